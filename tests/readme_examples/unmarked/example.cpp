// example -- shown as it is; the other block of the page is in no file.
int main() {}
