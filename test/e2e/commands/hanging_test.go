// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"net"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// The commands end when the API server accepts connections and never responds, and name the flag.
func TestHangingServer(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	suite.Must(t, err)
	t.Cleanup(func() { suite.Must(t, listener.Close()) })
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: "https://" + listener.Addr().String()}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub"}
	config.CurrentContext = "hub"
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	suite.Must(t, clientcmd.WriteToFile(*config, kubeconfig))

	for _, args := range [][]string{{"explain", "team-a/standby"}, {"explain", "--all", "--watch"}, {"federated"}, {"sets"}, {"simulate"}} {
		t.Run(args[0], func(t *testing.T) {
			p := suite.Run(t, append(args, "--kubeconfig", kubeconfig, "--request-timeout=1s")...)
			p.WantExit(t, 1)
			p.WantStderr(t, "cannot reach the API server at https://", "not responded within --request-timeout=1s")
		})
	}
}
