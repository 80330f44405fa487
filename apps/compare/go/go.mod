module compare_go

go 1.19
