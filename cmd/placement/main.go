// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
)

func main() {
	os.Exit(executeAs(signals.SetupSignalHandler(), os.Args[0], os.Args[1:], os.Stdout, os.Stderr))
}
