package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
)

// Web says where and how to listen, in the words of Prometheus' exporter-toolkit.
type Web struct {
	// Listen are addresses such as :9308.
	Listen []string
	// Systemd takes the sockets that systemd hands over, instead.
	Systemd bool
	// ConfigFile is the toolkit's file for TLS, client certificates and passwords;
	// empty for neither.
	ConfigFile string
}

// Check finds what is wrong with the file before anything is served.
func (w Web) Check() error {
	err := web.Validate(w.ConfigFile)
	switch {
	case err == nil:
		return nil
	case strings.HasPrefix(err.Error(), "crypto/bcrypt: "): // which does not say of what
		return fmt.Errorf("web config file %s: a password in basic_auth_users is not a bcrypt hash (%w); htpasswd -nB USER makes one", w.ConfigFile, err)
	}
	return fmt.Errorf("web config file %s: %w", w.ConfigFile, oneLineError{err})
}

// oneLineError is an error whose text is in one line; YAML's is not.
type oneLineError struct{ error }

func (e oneLineError) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }
func (e oneLineError) Unwrap() error { return e.error }

// Limits of the server, so that nobody holds it up for long.
const (
	headerWithin = 10 * time.Second
	answerWithin = time.Minute
	// idleFor is longer than any scrape interval that the alerts can live with.
	idleFor = 2 * time.Minute
	// endWithin is how long scrapes under way may take when the exporter is told to
	// stop.
	endWithin = 500 * time.Millisecond
)

// Serve runs the Exporter and serves it until the context ends; then it returns
// nil. Other errors are of the file, the address or the handler.
func Serve(ctx context.Context, e *Exporter, w Web) error {
	if err := w.Check(); err != nil {
		return err
	}
	handler, err := e.Handler()
	if err != nil {
		return err
	}
	server := newServer(e, handler)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		_ = e.Run(ctx) // it only ends with the context
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		shutDown(server)
	}()
	err = web.ListenAndServe(server, &web.FlagConfig{
		WebListenAddresses: &w.Listen, WebSystemdSocket: &w.Systemd, WebConfigFile: &w.ConfigFile,
	}, e.options.Log)
	cancel()
	<-ended
	<-ran
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

func newServer(e *Exporter, handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerWithin, ReadTimeout: headerWithin, WriteTimeout: answerWithin, IdleTimeout: idleFor,
		ErrorLog: slog.NewLogLogger(e.options.Log.Handler(), slog.LevelWarn),
	}
}

// shutDown lets scrapes end that are quick, and cuts the others off.
func shutDown(server *http.Server) {
	quickly, stop := context.WithTimeout(context.Background(), endWithin)
	defer stop()
	if server.Shutdown(quickly) != nil {
		_ = server.Close()
	}
}
