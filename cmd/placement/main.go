package main

import (
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
)

func main() {
	os.Exit(execute(signals.SetupSignalHandler(), os.Args[1:], os.Stdout, os.Stderr))
}
