// ads ADDRESS FILE: a control plane that tells each Envoy the same: the resources of a file, an array of JSON as protobuf has it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/original_dst/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
)

// All Envoys are one node.
type one struct{}

func (one) ID(*core.Node) string { return "one" }

func main() {
	snapshot, err := cache.NewSnapshot("1", read(os.Args[2]))
	check(err)
	snapshots := cache.NewSnapshotCache(true, one{}, nil)
	check(snapshots.SetSnapshot(context.Background(), one{}.ID(nil), snapshot))
	grpcServer := grpc.NewServer()
	discovery.RegisterAggregatedDiscoveryServiceServer(grpcServer, server.NewServer(context.Background(), snapshots, nil))
	listener, err := net.Listen("tcp", os.Args[1])
	check(err)
	fmt.Println("listening")
	check(grpcServer.Serve(listener))
}

// By their types.
func read(path string) map[string][]types.Resource {
	text, err := os.ReadFile(path)
	check(err)
	var parts []json.RawMessage
	check(json.Unmarshal(text, &parts))
	resources := map[string][]types.Resource{}
	for _, part := range parts {
		typed := &anypb.Any{}
		check(protojson.Unmarshal(part, typed))
		resource, err := typed.UnmarshalNew()
		check(err)
		resources[typed.TypeUrl] = append(resources[typed.TypeUrl], resource)
	}
	return resources
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
