// SPDX-License-Identifier: Apache-2.0

// Command assets finds or builds the binaries of a control plane, and prints their directory. With -scheduler kube-scheduler is among them,
// and -programs names those that are needed besides etcd and kube-apiserver. With -download it tries once to download what is missing, by
// the module test/envtest; `make run` alone has that flag.
// With -ocm the binary is the work manager of Open Cluster Management, which tests run as a consumer of decisions, and with -agent its work
// agent for members.
//
// Standard output has only that directory, so that a shell can use it:
//
//	KUBEBUILDER_ASSETS=$(go run ./test/env/assets) go test ./...
//
// Standard error shows which directory was chosen and why, and the progress of a build. Binaries are built into bin/controlplane (bin/ocm)
// of the checkout; an interrupted build leaves no incomplete binary there. Concurrent builds wait for each other.
package main
