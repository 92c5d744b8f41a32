// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// timeoutFlag bounds the requests of a command.
const timeoutFlag = "request-timeout"

// defaultRequestTimeout bounds each request unless --request-timeout is given: the commands read a hub for a user who waits.
const defaultRequestTimeout = "30s"

// newConnectionFlags returns the flags of kubectl that connect to a hub. --cluster means a ManagedCluster here, and nothing is cached on disk.
func newConnectionFlags() *genericclioptions.ConfigFlags {
	flags := genericclioptions.NewConfigFlags(false)
	flags.ClusterName, flags.CacheDir, flags.DisableCompression = nil, nil, nil
	*flags.Timeout = defaultRequestTimeout
	return flags
}

// addConnection adds the flags, and remembers them in a set of their own.
func (f *hubFlags) addConnection(flags *pflag.FlagSet) {
	f.connection = newConnectionFlags()
	f.connection.Namespace = &f.namespace
	f.given = pflag.NewFlagSet("connection", pflag.ContinueOnError)
	f.connection.AddFlags(f.given)
	f.given.Lookup("kubeconfig").Usage = "Kubeconfig of the hub. Default: $KUBECONFIG, ~/.kube/config, or the pod's service account."
	f.given.Lookup("context").Usage = "Context of the kubeconfig to use. Default: its current context."
	f.given.Lookup(timeoutFlag).Usage = "Time to wait for the response to one request, such as 10s or 2m; 0 waits without end. " +
		"With --watch it bounds the requests before the watch."
	flags.AddFlagSet(f.given)
}

// flags returns the flags, also of a value to which none were added.
func (f *hubFlags) flags() *genericclioptions.ConfigFlags {
	if f.connection == nil {
		f.connection = newConnectionFlags()
		f.connection.Namespace = &f.namespace
	}
	return f.connection
}

// connects returns the first flag on the command line that selects a hub or a user; empty for none.
func (f *hubFlags) connects() (name string) {
	if f.given == nil {
		return ""
	}
	f.given.VisitAll(func(flag *pflag.Flag) {
		if name == "" && flag.Changed && flag.Name != "namespace" && flag.Name != timeoutFlag {
			name = "--" + flag.Name
		}
	})
	return name
}

// find returns the connection and the namespace of the context.
func (f *hubFlags) find() (config *rest.Config, namespace string, err error) {
	flags := f.flags()
	timeout, err := clientcmd.ParseTimeout(*flags.Timeout)
	if err != nil || timeout < 0 {
		return nil, "", &usageError{fmt.Errorf("--%s: %q is no time such as 30s or 2m, or 0 for none", timeoutFlag, *flags.Timeout)}
	}
	found := flags.ToRawKubeConfigLoader()
	if f.nowhere(found) {
		return nil, "", noHub("a server with --server")
	}
	if config, err = found.ClientConfig(); err != nil {
		return nil, "", unloaded(fmt.Errorf("loading the kubeconfig: %w; correct it, or name another with --kubeconfig or --context", err))
	}
	if namespace, err = f.fileNamespace(); err != nil {
		return nil, "", err
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	config.QPS, config.Burst = 50, 300 // As kubectl has them.
	// The warnings are about what the commands read, such as deprecated kinds, which no user can change. Without a handler they are logged.
	config.WarningHandler = rest.NoWarnings{}
	// clientcmd takes neither from flags for the service account of a pod.
	config.Timeout = timeout
	if *flags.Impersonate != "" {
		config.Impersonate.UserName, config.Impersonate.UID = *flags.Impersonate, *flags.ImpersonateUID
		config.Impersonate.Groups = *flags.ImpersonateGroup
	}
	return config, namespace, nil
}

// fileNamespace returns the namespace of objects in files that name none, as kubectl has it: that of the flag, of the context, or default.
func (f *hubFlags) fileNamespace() (string, error) {
	if f.namespace != "" {
		return f.namespace, nil
	}
	namespace, _, err := f.flags().ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", unloaded(fmt.Errorf("loading the kubeconfig: %w; correct it, or name a namespace with --namespace", err))
	}
	return namespace, nil
}

// nowhere reports whether neither a kubeconfig, a flag nor a pod names a hub. cli-runtime has localhost:8080 then.
func (f *hubFlags) nowhere(found clientcmd.ClientConfig) bool {
	raw, err := found.RawConfig()
	if err != nil || len(raw.Clusters) > 0 || *f.flags().APIServer != "" {
		return false
	}
	_, err = rest.InClusterConfig()
	return err != nil
}

// noHub returns the error about a hub that nothing names. otherwise says what can name one besides a kubeconfig.
func noHub(otherwise string) error {
	missing := slices.DeleteFunc(filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar)), func(path string) bool {
		_, err := os.Stat(path)
		return path == "" || !errors.Is(err, fs.ErrNotExist)
	})
	if len(missing) > 0 {
		return inFiles(fmt.Errorf("$KUBECONFIG: there is no file %s; correct the path, or name a kubeconfig with --kubeconfig",
			strings.Join(missing, ", ")))
	}
	return errors.New("no hub to connect to: name a kubeconfig with --kubeconfig or $KUBECONFIG, or " + otherwise)
}

// unloaded returns the error about a kubeconfig, of which one that does not exist is a mistake in the command line.
func unloaded(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return inFiles(err)
	}
	return err
}

// hintTimeout returns what to do about an error of a request without a response in time; empty for other errors, and for commands without the
// flag. The hub's explanations, which are asked for after a refusal, have a timeout of their own.
func hintTimeout(cmd *cobra.Command, err error) string {
	flag := cmd.Flags().Lookup(timeoutFlag)
	if flag == nil || !utilnet.IsTimeout(err) || apierrors.IsForbidden(err) {
		return ""
	}
	return fmt.Sprintf("The API server has not responded within --%s=%s. Check that it runs and is reachable, or wait longer with that flag.\n",
		timeoutFlag, flag.Value)
}
