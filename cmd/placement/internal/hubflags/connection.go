// SPDX-License-Identifier: Apache-2.0

package hubflags

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

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
)

// TimeoutFlag bounds the requests of a command.
const TimeoutFlag = "request-timeout"

// defaultRequestTimeout bounds each request unless --request-timeout is given: the commands read a hub for a user who waits.
const defaultRequestTimeout = "30s"

// NewConnectionFlags returns the flags of kubectl that connect to a hub. --cluster means a ManagedCluster here, and nothing is cached on disk.
func NewConnectionFlags() *genericclioptions.ConfigFlags {
	flags := genericclioptions.NewConfigFlags(false)
	flags.ClusterName, flags.CacheDir, flags.DisableCompression = nil, nil, nil
	*flags.Timeout = defaultRequestTimeout
	return flags
}

// AddConnection adds the flags, and remembers them in a set of their own.
func (h *Hub) AddConnection(flags *pflag.FlagSet) {
	h.connection = NewConnectionFlags()
	h.connection.Namespace = &h.Namespace
	h.given = pflag.NewFlagSet("connection", pflag.ContinueOnError)
	h.connection.AddFlags(h.given)
	h.given.Lookup("kubeconfig").Usage = "Kubeconfig of the hub. Default: $KUBECONFIG, ~/.kube/config, or the pod's service account."
	h.given.Lookup("context").Usage = "Context of the kubeconfig to use. Default: its current context."
	h.given.Lookup(TimeoutFlag).Usage = "Time to wait for the response to one request, such as 10s or 2m; 0 waits without end. " +
		"With --watch it bounds the requests before the watch."
	flags.AddFlagSet(h.given)
}

// flags returns the flags, also of a value to which none were added.
func (h *Hub) flags() *genericclioptions.ConfigFlags {
	if h.connection == nil {
		h.connection = NewConnectionFlags()
		h.connection.Namespace = &h.Namespace
	}
	return h.connection
}

// Connects returns the first flag on the command line that selects a hub or a user; empty for none.
func (h *Hub) Connects() (name string) {
	if h.given == nil {
		return ""
	}
	h.given.VisitAll(func(flag *pflag.Flag) {
		if name == "" && flag.Changed && flag.Name != "namespace" && flag.Name != TimeoutFlag {
			name = "--" + flag.Name
		}
	})
	return name
}

// Find returns the connection and the namespace of the context.
func (h *Hub) Find() (config *rest.Config, namespace string, err error) {
	flags := h.flags()
	timeout, err := clientcmd.ParseTimeout(*flags.Timeout)
	if err != nil || timeout < 0 {
		return nil, "", exit.Mistake(fmt.Errorf("--%s: %q is no time such as 30s or 2m, or 0 for none", TimeoutFlag, *flags.Timeout))
	}
	found := flags.ToRawKubeConfigLoader()
	if h.nowhere(found) {
		return nil, "", NoHub("a server with --server")
	}
	if config, err = found.ClientConfig(); err != nil {
		return nil, "", Unloaded(fmt.Errorf("loading the kubeconfig: %w; correct it, or name another with --kubeconfig or --context", err))
	}
	if namespace, err = h.FileNamespace(); err != nil {
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

// FileNamespace returns the namespace of objects in files that name none, as kubectl has it: that of the flag, of the context, or default.
func (h *Hub) FileNamespace() (string, error) {
	if h.Namespace != "" {
		return h.Namespace, nil
	}
	namespace, _, err := h.flags().ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", Unloaded(fmt.Errorf("loading the kubeconfig: %w; correct it, or name a namespace with --namespace", err))
	}
	return namespace, nil
}

// nowhere reports whether neither a kubeconfig, a flag nor a pod names a hub. cli-runtime has localhost:8080 then.
func (h *Hub) nowhere(found clientcmd.ClientConfig) bool {
	raw, err := found.RawConfig()
	if err != nil || len(raw.Clusters) > 0 || *h.flags().APIServer != "" {
		return false
	}
	_, err = rest.InClusterConfig()
	return err != nil
}

// NoHub returns the error about a hub that nothing names. otherwise says what can name one besides a kubeconfig.
func NoHub(otherwise string) error {
	missing := slices.DeleteFunc(filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar)), func(path string) bool {
		_, err := os.Stat(path)
		return path == "" || !errors.Is(err, fs.ErrNotExist)
	})
	if len(missing) > 0 {
		return exit.InFiles(fmt.Errorf("$KUBECONFIG: there is no file %s; correct the path, or name a kubeconfig with --kubeconfig",
			strings.Join(missing, ", ")))
	}
	return errors.New("no hub to connect to: name a kubeconfig with --kubeconfig or $KUBECONFIG, or " + otherwise)
}

// Unloaded returns the error about a kubeconfig, of which one that does not exist is a mistake in the command line.
func Unloaded(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return exit.InFiles(err)
	}
	return err
}

// HintTimeout returns what to do about an error of a request without a response in time; empty for other errors, and for commands without the
// flag. The hub's explanations, which are asked for after a refusal, have a timeout of their own.
func HintTimeout(cmd *cobra.Command, err error) string {
	flag := cmd.Flags().Lookup(TimeoutFlag)
	if flag == nil || !utilnet.IsTimeout(err) || apierrors.IsForbidden(err) {
		return ""
	}
	return fmt.Sprintf("The API server has not responded within --%s=%s. Check that it runs and is reachable, or wait longer with that flag.\n",
		TimeoutFlag, flag.Value)
}
