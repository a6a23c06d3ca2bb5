version="1.0"
name="Lantern Harbour"
tags={
	"Events"
}
supported_version="1.16.*"
