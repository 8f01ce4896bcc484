package keystore

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// Stamp is what the files of a [Spec] looked like at one moment.
type Stamp struct {
	taken time.Time
	files [2]os.FileInfo // nil: not there, or not configured
}

// racyWindow is the coarsest clock of a file system, FAT's: a file that was
// written so shortly before a stamp may be written again without looking
// different.
const racyWindow = 2 * time.Second

// Stamp looks at the files.
func (s Spec) Stamp() Stamp {
	st := Stamp{taken: time.Now()}
	for i, path := range [2]string{s.KeyStoreLocation, s.TrustStoreLocation} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			st.files[i] = info
		}
	}
	return st
}

// Changed reports whether the files may hold something else than when since was
// taken: another inode (files are replaced by renaming, secrets of Kubernetes by
// another link), size or time of change; or they had just been written then.
func (s Spec) Changed(since Stamp) bool {
	now := s.Stamp()
	for i, was := range since.files {
		is := now.files[i]
		switch {
		case was == nil && is == nil:
		case was == nil || is == nil:
			return true
		case !os.SameFile(was, is) || was.Size() != is.Size() || !was.ModTime().Equal(is.ModTime()):
			return true
		case since.taken.Sub(is.ModTime()).Abs() < racyWindow:
			return true
		}
	}
	return false
}

// Reloader holds the material of a spec and reads its files again when they have
// changed. What was loaded last stays in use while a new file is broken, or only
// half written. It is safe for concurrent use.
type Reloader struct {
	spec Spec

	mu       sync.Mutex
	stamp    Stamp
	material *Material
	// err is why the files as they are now are not what material was made of.
	err error
}

// NewReloader loads the stores, and fails if it cannot.
func NewReloader(spec Spec) (*Reloader, error) {
	// The stamp is older than what is read: a change in between shows.
	stamp := spec.Stamp()
	m, err := Load(spec)
	if err != nil {
		return nil, err
	}
	return &Reloader{spec: spec, stamp: stamp, material: m}, nil
}

// Material returns what is in use, never nil, after reading the files again if
// they have changed. The error says why newer files are not in use; it stays until
// they have changed again.
func (r *Reloader) Material() (*Material, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spec.Changed(r.stamp) {
		r.stamp = r.spec.Stamp()
		m, err := Load(r.spec)
		if err == nil {
			r.material = m
		}
		r.err = err
	}
	return r.material, r.err
}

// ClientConfig returns a configuration for connections to host, all of whose
// handshakes use the stores as they are then. The name is checked unless
// ssl.endpoint.identification.algorithm is empty. Protocol versions and ciphers
// are the caller's to set.
func (r *Reloader) ClientConfig(host string, checkName bool) *tls.Config {
	verifiedName := ""
	if checkName {
		verifiedName = host
	}
	return &tls.Config{
		ServerName: host,
		MinVersion: tls.VersionTLS12,
		// VerifyConnection does it, by Java's rules and the roots of the moment.
		InsecureSkipVerify:   true,
		VerifyConnection:     r.VerifyConnection(verifiedName),
		GetClientCertificate: r.GetClientCertificate,
	}
}

// GetClientCertificate is for tls.Config: the first certificate, by alias, that
// the broker's issuers and algorithms allow. If there is none, none is shown, as
// a Java client does; the broker decides whether it minds.
func (r *Reloader) GetClientCertificate(req *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	m, _ := r.Material()
	for i := range m.Certificates {
		if req.SupportsCertificate(&m.Certificates[i]) == nil {
			return &m.Certificates[i], nil
		}
	}
	return &tls.Certificate{}, nil
}

// VerifyConnection makes a function for tls.Config that checks the broker's
// certificates against the roots of the moment, and against host unless that is
// empty. It is all the checking there is where InsecureSkipVerify is set.
func (r *Reloader) VerifyConnection(host string) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		m, _ := r.Material()
		if err := m.verify(state.PeerCertificates, host, time.Now()); err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
		}
		return nil
	}
}
