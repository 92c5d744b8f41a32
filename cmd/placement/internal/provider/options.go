// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider/access"
)

// shortestToken is the shortest lifetime of a token that API servers grant (docs/spec/kubernetes.md V12).
const shortestToken = 10 * time.Minute

// Options are the flags of every provider.
type Options struct {
	// Name is the name of the ClusterProvider.
	Name string
	// Environment distinguishes hubs whose providers have the same name and reach the same cluster.
	Environment string
	// TokenLifetime is the lifetime of the tokens of AccessRequests.
	TokenLifetime time.Duration
}

// AddFlags adds the flags. name is the default of --provider-name.
func (o *Options) AddFlags(flags *pflag.FlagSet, name string) {
	flags.StringVar(&o.Name, "provider-name", name, "Name of the ClusterProvider, which an admin creates.")
	flags.StringVar(&o.Environment, "environment", "default",
		"Name of this hub, a part of the names of ServiceAccounts in the clusters. Hubs that reach the same cluster need different ones.")
	flags.DurationVar(&o.TokenLifetime, "token-lifetime", access.DefaultTokenLifetime,
		"Lifetime of the tokens that AccessRequests get, at least 10m. A token is renewed after 80% of it.")
}

// Validate returns an error that names a flag with a bad value.
func (o *Options) Validate() error {
	if problems := validation.IsDNS1123Subdomain(o.Name); len(problems) > 0 || len(o.Name) > validation.LabelValueMaxLength {
		return fmt.Errorf("--provider-name: %q cannot be the name of a ClusterProvider; use at most %d lower-case letters, digits, dashes and dots",
			o.Name, validation.LabelValueMaxLength)
	}
	if o.Environment == "" {
		return errors.New("--environment: it is empty; name this hub")
	}
	if o.TokenLifetime < shortestToken {
		return fmt.Errorf("--token-lifetime: %s is shorter than %s, which API servers refuse; use a longer one", o.TokenLifetime, shortestToken)
	}
	return nil
}

// NullOptions are the flags of the null provider.
type NullOptions struct {
	Options

	// Versions and Traits are those of the only profile.
	Versions, Traits []string
}

// AddFlags adds the flags.
func (o *NullOptions) AddFlags(flags *pflag.FlagSet) {
	o.Options.AddFlags(flags, "null")
	flags.StringSliceVar(&o.Versions, "kubernetes-versions", []string{"1.36.3"}, "Versions of Kubernetes of the profile \"default\".")
	flags.StringSliceVar(&o.Traits, "traits", nil, "Traits of the profile \"default\", such as cluster.openmcp.cloud/workerless.")
}

// Profiles returns the only profile.
func (o *NullOptions) Profiles() []openmcpv1alpha1.Profile {
	profile := openmcpv1alpha1.Profile{Name: "default"}
	for _, version := range o.Versions {
		profile.SupportedVersions = append(profile.SupportedVersions, openmcpv1alpha1.SupportedVersion{Version: version})
	}
	for _, trait := range o.Traits {
		profile.SupportedTraits = append(profile.SupportedTraits, openmcpv1alpha1.SupportedTrait{Trait: trait})
	}
	return []openmcpv1alpha1.Profile{profile}
}

// LoopbackOptions are the flags of the loopback provider.
type LoopbackOptions struct {
	Options

	// APIServer is the path of the kube-apiserver, Etcd the client URLs of etcd, DataDir the directory with the keys of the clusters.
	APIServer string
	Etcd      []string
	DataDir   string
	// WorkAgent is the path of the work agent, empty for none. Namespace has the AccessRequests of the agents.
	WorkAgent, Namespace string
}

// AddFlags adds the flags.
func (o *LoopbackOptions) AddFlags(flags *pflag.FlagSet) {
	o.Options.AddFlags(flags, "loopback")
	flags.StringVar(&o.APIServer, "kube-apiserver-binary", "", "Path of the kube-apiserver to run for each Cluster. Required.")
	flags.StringSliceVar(&o.Etcd, "etcd-endpoints", []string{"http://127.0.0.1:2379"},
		"Client URLs of the etcd that keeps the objects of the clusters, below /clusters. It must ask for no credentials.")
	flags.StringVar(&o.DataDir, "data-dir", "", "Directory with the keys, certificates and logs of the clusters. Required.")
	flags.StringVar(&o.WorkAgent, "work-agent-binary", "",
		"Path of the work agent to run for each Cluster that is published as a ManagedCluster. Default: no agents run.")
	flags.StringVar(&o.Namespace, "namespace", "clusterprovider-loopback",
		"Namespace of the AccessRequests of the work agents: that of the ServiceAccount of this provider, which tenants must not read.")
}

// Validate returns an error that names a flag with a bad value.
func (o *LoopbackOptions) Validate() error {
	if err := o.Options.Validate(); err != nil {
		return err
	}
	if err := executable("--kube-apiserver-binary", o.APIServer); err != nil {
		return err
	}
	if o.WorkAgent != "" {
		if err := executable("--work-agent-binary", o.WorkAgent); err != nil {
			return err
		}
	}
	if problems := validation.IsDNS1123Label(o.Namespace); len(problems) > 0 {
		return fmt.Errorf("--namespace: %q is no name of a namespace; name that of the provider's ServiceAccount", o.Namespace)
	}
	if o.DataDir == "" {
		return errors.New("--data-dir: it is required; name a directory that stays over restarts")
	}
	if len(o.Etcd) == 0 {
		return errors.New("--etcd-endpoints: there is none; name a URL such as http://127.0.0.1:2379")
	}
	for _, endpoint := range o.Etcd {
		parsed, err := url.Parse(endpoint)
		if err != nil || parsed.Scheme != "http" || parsed.Host == "" || parsed.Path != "" {
			return fmt.Errorf("--etcd-endpoints: %q is no URL such as http://127.0.0.1:2379", endpoint)
		}
	}
	return nil
}

// executable returns an error if the value of a flag is not the path of a program.
func executable(flag, path string) error {
	if path == "" {
		return fmt.Errorf("%s: it is required; name a program", flag)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%s: %w; name a program", flag, err)
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s: %s is not executable; name a program", flag, path)
	}
	return nil
}
