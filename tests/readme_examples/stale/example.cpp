// example -- shown by README.md beside it, which has another number.
int main() { return 0; }
