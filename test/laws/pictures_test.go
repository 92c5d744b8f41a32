// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/expect"
)

const (
	// picturesDirectory has the pictures of the dashboard, and pictureSum the sum of what they show.
	picturesDirectory = "docs/pictures"
	pictureSum        = picturesDirectory + "/dashboard.sum"
	// maxPictures and maxPictureBytes bound the pictures.
	maxPictures     = 6
	maxPictureBytes = 200 << 10
)

// pictured are what the pictures of the dashboard show: its templates and style, and the samples.
var pictured = []string{"pkg/dashboard/templates", "pkg/dashboard/assets/style.css", "deploy/samples"}

// The pictures in the documentation show the pages as they are.
func TestPicturesAreOfThePages(t *testing.T) {
	dir := root(t)
	sum := sumOf(t, dir)
	if expect.Update() {
		if err := os.WriteFile(filepath.Join(dir, pictureSum), []byte(sum), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(filepath.Join(dir, pictureSum))
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != sum {
		t.Errorf("the pictures in %s are of other templates, style or samples: run make pictures", picturesDirectory)
	}
	pictures, err := filepath.Glob(filepath.Join(dir, picturesDirectory, "*.webp"))
	if err != nil || len(pictures) == 0 || len(pictures) > maxPictures {
		t.Errorf("%d pictures in %s, %v; want 1 to %d", len(pictures), picturesDirectory, err, maxPictures)
	}
	for _, picture := range pictures {
		if info, err := os.Stat(picture); err != nil || info.Size() > maxPictureBytes {
			t.Errorf("%s: %v; want at most %d bytes", picture, err, maxPictureBytes)
		}
	}
}

// sumOf returns the sum of the files that the pictures show.
func sumOf(t *testing.T, dir string) string {
	t.Helper()
	var sums []string
	for _, of := range pictured {
		err := filepath.WalkDir(filepath.Join(dir, of), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) == ".go" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			relative, err := filepath.Rel(dir, path)
			sum := sha256.Sum256(text)
			sums = append(sums, fmt.Sprintf("%s  %s", hex.EncodeToString(sum[:]), filepath.ToSlash(relative)))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(sums)
	return strings.Join(sums, "\n") + "\n"
}
