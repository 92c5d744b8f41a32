// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

// Name is the name of the system, and Widgets that of its controller.
const (
	Name    = "toy"
	Widgets = "toy/widgets"
)

// version is the API of Widgets.
var version = schema.GroupVersion{Group: "toy.example.com", Version: "v1"}

// Settings are what the flags of the system set.
type Settings struct{ Word string }

// System returns the system.
func System(settings *Settings) systems.Entry {
	return systems.Entry{
		Name:   Name,
		Groups: []systems.Group{{Name: version.Group, Hint: "apply manifests/toy, or leave the controllers toy/* off"}},
		Controllers: []systems.Controller{{
			Name: Widgets,
			Setup: func(mgr manager.Manager, s queue.Settings) error {
				return setup(mgr, s, settings.Word)
			},
			Access: systems.Access{
				Reads: []schema.GroupVersionResource{version.WithResource("widgets")}, Rules: []systems.Rules{{Role: "toy"}},
			},
		}},
		Flags: func(fs *pflag.FlagSet) {
			fs.StringVar(&settings.Word, "toy-word", "Hello", "Word that Widgets are greeted with.")
		},
		Validate: func() error {
			if settings.Word == "" {
				return errors.New("--toy-word: it is empty; name a word")
			}

			return nil
		},
		Sample: &systems.Sample{
			Short: "toy has widgets", Text: "With --sample=toy the hub greets Widgets.",
			Shows: []schema.GroupVersionKind{version.WithKind("Widget")},
		},
	}
}
