// The browser tests of the dashboard. Nothing here ends up in the binary.
module github.com/placement-hub/placement-hub/test/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/placement-hub/placement-hub v0.0.0
)

require github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect

// The package that runs programs, which needs no other module.
replace github.com/placement-hub/placement-hub => ../..
