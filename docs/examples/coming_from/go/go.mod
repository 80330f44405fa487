module coming_from_go

go 1.19
