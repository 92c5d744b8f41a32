// SPDX-License-Identifier: Apache-2.0

// Command envtest downloads the binaries of a control plane (etcd, kube-apiserver and kubectl) into the store of setup-envtest, with the library of
// setup-envtest, and prints their directory. `make run` uses it where no binaries are found; no test, and nothing else, does.
//
//	envtest -version 1.37
//
// It says which URL it reads before it connects. It tries once: a connection has five seconds, a response ten, and the whole ten minutes. An
// archive is unpacked after its SHA-512 was compared with that of the index, and is complete in the store or not there. Proxies are those of
// HTTPS_PROXY and so on.
package main
