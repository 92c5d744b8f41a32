// Command assets finds the binaries of a control plane, or builds them, and prints their directory. With -ocm it does so for the programs
// of Open Cluster Management that tests run as consumers of decisions.
//
// Standard output holds that directory alone, so that a shell can use it:
//
//	KUBEBUILDER_ASSETS=$(go run ./test/env/assets) go test ./...
//
// Standard error says which place was picked and why, and shows the progress of a build. What it builds goes into
// bin/controlplane (bin/ocm) of the checkout; an interrupted build leaves no half-written binary there. Two builds at once wait for
// each other.
package main
