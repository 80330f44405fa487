// responder -- a TCP server: a goroutine for each connection, which reads a request and writes the reply.
package main

import (
	"bytes"
	"fmt"
	"net"
	"time"
)

var reply = []byte("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!")

func computeForAMillisecond() {
	until := time.Now().Add(time.Millisecond)
	work := 0
	for time.Now().Before(until) {
		for i := 0; i < 1000; i++ {
			work++
		}
	}
}

func serve(client net.Conn) {
	defer client.Close()
	room := make([]byte, 4096)
	for {
		got, err := client.Read(room)
		if err != nil {
			return
		}
		if !bytes.HasSuffix(room[:got], []byte("\r\n\r\n")) {
			continue
		}
		if bytes.HasPrefix(room[:got], []byte("GET /c")) {
			computeForAMillisecond()
		}
		if _, err := client.Write(reply); err != nil {
			return
		}
	}
}

func responder(wanted *options) {
	port := wanted.number("port", 0)
	wanted.begin()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		fail(err.Error())
	}
	answer(figure{"port", float64(listener.Addr().(*net.TCPAddr).Port)})
	for {
		client, err := listener.Accept()
		if err != nil {
			fail(err.Error())
		}
		go serve(client)
	}
}
