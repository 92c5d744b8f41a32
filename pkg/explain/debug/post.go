// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"sigs.k8s.io/json"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/slowclients"
)

// maxBodyBytes bounds the body of a POST.
const maxBodyBytes = 1 << 20

// apiParameter is the query parameter for the API group of the Placement; the default is that of v1beta1.
const apiParameter = "api"

// statusError is an error with the HTTP status code of its response.
type statusError struct {
	code int
	err  error
}

func (s *statusError) Error() string { return s.err.Error() }
func (s *statusError) Unwrap() error { return s.err }

func newStatusError(code int, format string, arguments ...any) error {
	return &statusError{code: code, err: fmt.Errorf(format, arguments...)}
}

// apiOf returns the API that the parameter of a request names.
func apiOf(request *http.Request) (api.Adapter, error) {
	named := request.URL.Query()[apiParameter]
	if len(named) == 0 {
		return api.V1beta1, nil
	}
	if adapter, found := api.Find(named[0]); found && len(named) == 1 && named[0] == string(adapter.Name()) {
		return adapter, nil
	}

	names := make([]string, 0, len(api.Adapters()))
	for _, adapter := range api.Adapters() {
		names = append(names, string(adapter.Name()))
	}
	return nil, newStatusError(http.StatusBadRequest, "parameter %s: no such API group %q: use one of %s, once",
		apiParameter, named, strings.Join(names, ", "))
}

// keyOf returns the Placement key in the path of a GET.
func keyOf(adapter api.Adapter, path string) (inventory.Key, error) {
	namespace, name, found := strings.Cut(strings.TrimPrefix(path, Path), "/")
	switch {
	case found && namespace != "" && name == "":
		return inventory.Key{}, newStatusError(http.StatusNotFound, "there is no Placement without a name in namespace %s: name one as "+
			"%s<namespace>/<name>, or send one by POST to %s", namespace, Path, Path)
	case !found, namespace == "", strings.Contains(name, "/"):
		return inventory.Key{}, newStatusError(http.StatusBadRequest,
			"path %q: name one placement as %s<namespace>/<name>, or send one by POST to %s", path, Path, Path)
	}
	return inventory.NewPlacementKey(adapter.Name(), namespace, name), nil
}

// postedPlacement is a Placement from a request body, before admission.
type postedPlacement struct {
	object map[string]any
	api    api.Adapter
	// key may lack a name: a posted Placement need not have one.
	key inventory.Key
}

// readPosted reads from the body of a POST the fields that authorization needs. As upstream, it ignores the path below Path.
func readPosted(w http.ResponseWriter, request *http.Request, adapter api.Adapter) (*postedPlacement, error) {
	body, err := slowclients.ReadBody(w, request, maxBodyBytes)
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return nil, newStatusError(http.StatusRequestEntityTooLarge, "the Placement has more than %d bytes: send it without managedFields and status",
			tooLong.Limit)
	}
	if err != nil {
		return nil, newStatusError(http.StatusBadRequest, "reading the Placement: %w; send it again", err)
	}

	object, err := decode(body)
	if err != nil {
		return nil, err
	}
	p := &postedPlacement{object: object, api: adapter}
	if err := p.setAPI(request.URL.Query().Has(apiParameter)); err != nil {
		return nil, err
	}

	if err := p.setKey(); err != nil {
		return nil, err
	}
	return p, nil
}

func decode(body []byte) (map[string]any, error) {
	var object map[string]any
	strict, err := json.UnmarshalStrict(body, &object)
	if err == nil {
		err = errors.Join(strict...)
	}

	switch {
	case err != nil:
		return nil, newStatusError(http.StatusBadRequest, "the body is no Placement in JSON: %w", err)
	case object == nil:
		return nil, newStatusError(http.StatusBadRequest, "the body is no Placement in JSON: it is null")
	default:
		return object, nil
	}
}

// setAPI sets the API by apiVersion and kind, which default to the API of the query parameter. Parameter and apiVersion must agree.
func (p *postedPlacement) setAPI(byParameter bool) error {
	version, kind := p.object["apiVersion"], p.object["kind"]

	text, _ := version.(string)
	if adapter, found := api.Find(text); found && text == adapter.Kind().GroupVersion().String() {
		if byParameter && adapter != p.api {
			return newStatusError(http.StatusBadRequest, "apiVersion: is %s, and the parameter %s says %s: change one of the two, "+
				"or leave out the parameter", version, apiParameter, p.api.Name())
		}
		p.api = adapter
	}
	is := p.api.Kind()
	switch {
	case version != nil && version != is.GroupVersion().String():
		return newStatusError(http.StatusBadRequest, "apiVersion: is %q, and must be one of %s", version, api.GroupVersions(", "))
	case kind != nil && kind != is.Kind:
		return newStatusError(http.StatusBadRequest, "kind: is %q, and must be %s", kind, is.Kind)
	}

	p.object["apiVersion"], p.object["kind"] = is.GroupVersion().String(), is.Kind
	return nil
}

// setKey sets the key from namespace and name. Authorization needs a namespace, so it is required.
func (p *postedPlacement) setKey() error {
	metadata, _ := p.object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	name, _ := metadata["name"].(string)
	if namespace == "" {
		return newStatusError(http.StatusBadRequest, "metadata.namespace: is required, as a string: the cluster sets that are bound there decide")
	}
	p.key = inventory.NewPlacementKey(p.api.Name(), namespace, name)
	return nil
}
