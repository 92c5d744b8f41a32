// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
)

// pageSize is the number of objects of one response to Each.
const pageSize = 500

// Each calls a function with every object of a list, which it asks for in pages of 500 objects, one after the other. It keeps none of them. An
// error of the list or of the function ends it, and is returned as it is.
func Each[T runtime.Object](ctx context.Context, list pager.ListPageFunc, options metav1.ListOptions, call func(T) error) error {
	pages := pager.New(list)
	pages.PageSize, pages.PageBufferSize = pageSize, 0
	//nolint:wrapcheck // Callers choose what they do by its type, and name the resource.
	return pages.EachListItem(ctx, options, func(item runtime.Object) error {
		object, isOne := item.(T)
		if !isOne {
			return fmt.Errorf("the API server lists a %T", item)
		}
		return call(object)
	})
}
