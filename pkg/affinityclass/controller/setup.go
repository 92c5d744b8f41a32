// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// FieldManager is the field manager of all writes of these controllers.
const FieldManager = "placement-hub"

// ValuesSecret is the name of the Secrets that the controller of Tenants reads, in every namespace.
const ValuesSecret = affinityclass.ValuesSecret

// Controllers are the controllers of one hub, which share what they know of Tenants and application kinds. Use New.
type Controllers struct {
	state *state
}

// New returns controllers that are in no manager yet.
func New() *Controllers { return &Controllers{} }

// Classes adds the controller of AffinityClasses to the manager.
func (c *Controllers) Classes(mgr manager.Manager, s queue.Settings) error {
	return c.shared(mgr, s).setupClasses(mgr, s)
}

// Tenants adds the controller of Tenants to the manager.
func (c *Controllers) Tenants(mgr manager.Manager, s queue.Settings) error {
	return c.shared(mgr, s).setupTenants(mgr, s)
}

// Applications adds the controller of applications to the manager.
func (c *Controllers) Applications(mgr manager.Manager, s queue.Settings) error {
	return c.shared(mgr, s).setupApplications(mgr, s)
}

// Namespaces adds the controller of the label of verified namespaces to the manager.
func (c *Controllers) Namespaces(mgr manager.Manager, s queue.Settings) error {
	return c.shared(mgr, s).setupNamespaces(mgr, s)
}

// shared returns what the controllers share.
func (c *Controllers) shared(mgr manager.Manager, s queue.Settings) *state {
	if c.state == nil {
		c.state = &state{
			Reader: reader.New(mgr.GetCache(), mgr.GetAPIReader()), writer: client.WithFieldOwner(mgr.GetClient(), FieldManager),
			kinds: newKinds(mgr.GetCache()), clock: s.Clock, namespace: s.Namespace,
		}
	}
	return c.state
}
