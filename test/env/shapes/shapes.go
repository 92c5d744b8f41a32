// SPDX-License-Identifier: Apache-2.0

package shapes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// installation has the objects of an installation that the process depends on.
type installation struct {
	deployment appsv1.Deployment
	accounts   []corev1.ServiceAccount
	services   []corev1.Service
	webhooks   []webhook
	rbac       rbac
}

// webhook is an entry of a webhook configuration.
type webhook struct {
	kind, configuration string
	client              admissionregistrationv1.WebhookClientConfig
}

// process is what the arguments of the Deployment say.
type process struct {
	options      system.Options
	enabled      []string
	serves       bool // webhooks
	explanations bool
	dashboard    string // address
}

// Missing returns what the process of the Deployment among the objects needs and does not have. It returns an error if the objects cannot be read.
func Missing(objects []*unstructured.Unstructured) ([]string, error) {
	i, err := read(objects)
	if err != nil {
		return nil, err
	}
	if len(i.deployment.Spec.Template.Spec.Containers) != 1 {
		return nil, fmt.Errorf("the Deployment has %d containers, want one", len(i.deployment.Spec.Template.Spec.Containers))
	}
	p, err := parse(i.deployment.Spec.Template.Spec.Containers[0].Args, i.deployment.Namespace)
	if err != nil {
		return []string{err.Error()}, nil //nolint:nilerr // The process refuses them.
	}
	missing, err := i.missingRights(p)
	return append(missing, i.missingObjects(p)...), err
}

// parse reads the arguments of a process, of which it has to know every flag.
func parse(arguments []string, namespace string) (process, error) {
	if len(arguments) == 0 || arguments[0] != "controller" {
		return process{}, fmt.Errorf("the arguments %v do not begin with controller", arguments)
	}
	p := process{options: system.DefaultOptions()}
	p.options.Namespace = namespace
	flags := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	flags.StringSliceVar(&p.options.Controllers, "controllers", nil, "")
	flags.BoolVar(&p.options.ProfileDecisions, "sig-placement-decisions", false, "")
	flags.BoolVar(&p.explanations, "explanations", true, "")
	flags.StringVar(&p.dashboard, "dashboard-listen", "", "")
	flags.String("explain-address", "", "")
	flags.Int("max-removal-percent", 0, "")
	p.options.AddFlags(flags)
	err := flags.Parse(arguments[1:])
	if err != nil {
		return p, fmt.Errorf("the arguments are not accepted: %w", err)
	}
	if p.enabled, err = p.options.Enabled(); err != nil {
		return p, fmt.Errorf("the arguments are not accepted: --controllers: %w", err)
	}
	if err := errors.Join(p.options.Validate(), p.options.Unused(p.enabled)); err != nil {
		return p, fmt.Errorf("the arguments are not accepted: %w", err)
	}
	if p.explanations {
		p.options.Explanations = func(manager.Manager) (*webhookserver.Published, error) { return nil, nil }
	}
	p.serves, err = p.options.ServesWebhook()
	return p, err
}

// missingRights returns the rights that the process, or those whom it serves, do not have.
func (i *installation) missingRights(p process) ([]string, error) {
	needed, err := rightsOf(p.options)
	if err != nil {
		return nil, err
	}
	pod := i.deployment.Spec.Template.Spec
	account := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: pod.ServiceAccountName, Namespace: i.deployment.Namespace}
	missing := i.rbac.missing(account, needed)
	if p.serves && p.explanations {
		users := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"}
		missing = append(missing, i.rbac.missing(users, []right{
			{verb: "get", resource: "configmaps", name: endpoint.ConfigMap, namespace: i.deployment.Namespace},
		})...)
	}
	if p.dashboard != "" && !i.rbac.bound(account, "kube-system", "extension-apiserver-authentication-reader") {
		missing = append(missing, "the Role extension-apiserver-authentication-reader in kube-system, for client certificates")
	}
	return missing, nil
}

// missingObjects returns what the Pods and those who call them miss besides rights.
func (i *installation) missingObjects(p process) []string {
	pod := i.deployment.Spec.Template
	var missing []string
	if !slices.ContainsFunc(i.accounts, func(account corev1.ServiceAccount) bool {
		return account.Name == pod.Spec.ServiceAccountName && account.Namespace == i.deployment.Namespace
	}) {
		missing = append(missing, "the ServiceAccount "+pod.Spec.ServiceAccountName)
	}
	if p.dashboard != "" && i.targetOf(func(service *corev1.Service) bool { return strings.HasSuffix(service.Name, "dashboard") }, 443) == "" {
		missing = append(missing, "a Service of the dashboard")
	}
	// The published address of explanations is that of the Service.
	if p.serves && i.targetOf(func(service *corev1.Service) bool { return service.Name == webhookserver.Service }, 443) != "webhook" {
		missing = append(missing, "the Service "+webhookserver.Service)
	}
	for _, w := range i.webhooks {
		if w.client.URL != nil {
			continue
		}
		named := func(service *corev1.Service) bool {
			return service.Name == w.client.Service.Name && service.Namespace == w.client.Service.Namespace
		}
		if i.targetOf(named, ptr.Deref(w.client.Service.Port, 443)) != "webhook" {
			missing = append(missing, fmt.Sprintf("the Service %s of %s %s", w.client.Service.Name, w.kind, w.configuration))
		}
	}
	for _, entry := range p.options.Systems() {
		for _, controller := range entry.Controllers {
			if slices.Contains(p.enabled, controller.Name) {
				missing = append(missing, i.missingConfigurations(controller.Served)...)
			}
		}
	}
	return missing
}

// missingConfigurations returns those of the webhook configurations of a controller that are not there.
func (i *installation) missingConfigurations(served webhookserver.Webhook) []string {
	var missing []string
	for kind, name := range map[string]string{
		"MutatingWebhookConfiguration": served.Mutating, "ValidatingWebhookConfiguration": served.Validating,
	} {
		if name != "" && !slices.ContainsFunc(i.webhooks, func(w webhook) bool { return w.kind == kind && w.configuration == name }) {
			missing = append(missing, kind+" "+name)
		}
	}
	return missing
}

// targetOf returns the name of the port of the container to which a Service of the Pods forwards one of its ports; empty if there is no such
// Service.
func (i *installation) targetOf(is func(*corev1.Service) bool, port int32) string {
	pod := i.deployment.Spec.Template
	for n := range i.services {
		service := &i.services[n]
		if !is(service) || service.Namespace != i.deployment.Namespace ||
			!labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			continue
		}
		for _, forwarded := range service.Spec.Ports {
			opens := func(p corev1.ContainerPort) bool { return p.Name == forwarded.TargetPort.StrVal }
			if forwarded.Port == port && slices.ContainsFunc(pod.Spec.Containers[0].Ports, opens) {
				return forwarded.TargetPort.StrVal
			}
		}
	}
	return ""
}

// read reads what the process depends on.
func read(objects []*unstructured.Unstructured) (*installation, error) {
	i := &installation{}
	deployments := 0
	for _, object := range objects {
		var err error
		switch object.GetKind() {
		case "Deployment":
			deployments++
			err = into(object, &i.deployment)
		case "ServiceAccount":
			err = add(object, &i.accounts)
		case "Service":
			err = add(object, &i.services)
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration": // What is read of them is the same.
			var configuration admissionregistrationv1.ValidatingWebhookConfiguration
			err = into(object, &configuration)
			for n := range configuration.Webhooks {
				i.webhooks = append(i.webhooks, webhook{object.GetKind(), object.GetName(), configuration.Webhooks[n].ClientConfig})
			}
		case "ClusterRole":
			err = add(object, &i.rbac.clusterRoles)
		case "ClusterRoleBinding":
			err = add(object, &i.rbac.clusterRoleBindings)
		case "Role":
			err = add(object, &i.rbac.roles)
		case "RoleBinding":
			err = add(object, &i.rbac.roleBindings)
		default:
		}
		if err != nil {
			return nil, err
		}
	}
	if deployments != 1 {
		return nil, fmt.Errorf("there are %d Deployments, want one", deployments)
	}
	return i, nil
}

// add adds a typed object to a list.
func add[T any](object *unstructured.Unstructured, to *[]T) error {
	var typed T
	err := into(object, &typed)
	*to = append(*to, typed)
	return err
}

// into reads a typed object.
func into(object *unstructured.Unstructured, to any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, to); err != nil {
		return fmt.Errorf("reading %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}
