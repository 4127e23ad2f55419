/** Clients in Python and Go, generated from the OpenAPI document, against a running service. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startService } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const GENERATE = join(import.meta.dirname, '../../packaging/clients/generate.ts');

const generate = (language: string) =>
  execFileSync(process.execPath, [GENERATE, language], { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });

const PYTHON = `import sys
from causeway import CausewayError, Client

client = Client(sys.argv[1], sys.argv[2], locale="en")
added = client.domain_add(domain="www.example.com", cdn_type="1", data=["192.0.2.1"])
print(client.domain_get(domain_id=added["domain_id"])["domain_name"])
try:
    client.domain_add(domain="www.example.com", cdn_type="1", data=["192.0.2.1"])
except CausewayError as error:
    print(error.code, error.status, error.http, error)
again = [client.domain_add(domain="key.example.com", cdn_type="1", data=["192.0.2.1"], idempotency_key="k") for _ in range(2)]
print(again[0] == again[1])
try:
    client.domain_set_remark(domain_id=added["domain_id"], remark="x", if_revision=0)
except CausewayError as error:
    print(error.code, error.current_revision == client.domain_settings(domain_id=added["domain_id"])["revision"])
print(client.domain_delete(domain_id=added["domain_id"]), len(client.certificate_list()))
`;

const GO = `package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"example.com/try/causeway"
)

func main() {
	ctx := context.Background()
	client := &causeway.Client{BaseURL: os.Args[1], AccessToken: os.Args[2], Locale: "en"}
	add := causeway.DomainAddRequest{Domain: "www.example.com", CDNType: "1", Data: &[]string{"192.0.2.1"}}
	added, err := client.DomainAdd(ctx, add)
	if err != nil {
		panic(err)
	}
	id := json.Number(added.DomainID)
	domain, err := client.DomainGet(ctx, causeway.DomainGetRequest{DomainID: id})
	if err != nil {
		panic(err)
	}
	fmt.Println(domain.DomainName)
	_, err = client.DomainAdd(ctx, add)
	var failure *causeway.Error
	fmt.Println(errors.As(err, &failure), failure.Code == causeway.CodeDomainDuplicate, failure.Status, failure.HTTP)
	keyed := causeway.WithIdempotencyKey(ctx, "k")
	other := causeway.DomainAddRequest{Domain: "key.example.com", CDNType: "1", Data: &[]string{"192.0.2.1"}}
	first, _ := client.DomainAdd(keyed, other)
	again, err := client.DomainAdd(keyed, other)
	fmt.Println(first.DomainID == again.DomainID, err)
	_, err = client.DomainSetRemark(ctx, causeway.DomainSetRemarkRequest{DomainID: id, Remark: "x", IfRevision: causeway.Ptr(json.Number("0"))})
	fmt.Println(errors.As(err, &failure), failure.CurrentRevision == domain.Revision)
	done, err := client.DomainDelete(ctx, causeway.DomainDeleteRequest{DomainID: id})
	fmt.Println(done, err)
}
`;

test('a generated Python client adds a domain', needs('python', { timeout: 120_000 }), async (t) => {
  const folder = temporaryFolder(t);
  const run = (...words: readonly string[]) =>
    execFileSync(obtain('python'), ['-W', 'error', ...words], { cwd: folder, encoding: 'utf8' });
  writeFileSync(join(folder, 'causeway.py'), generate('python'));
  writeFileSync(join(folder, 'add.py'), PYTHON);
  const { controlUrl, token } = await startService(t);
  assert.match(
    run('add.py', controlUrl, token),
    /^www\.example\.com\ndomainDuplicate 0 200 .*www\.example\.com.*\nTrue\nrevisionChanged True\nTrue 0\n$/,
  );
  // Every annotation names something.
  run(
    '-c',
    'import causeway, typing\nfor m in vars(causeway.Client).values():\n  if callable(m): typing.get_type_hints(m)',
  );
});

test('a generated Go client passes go vet and adds a domain', needs('go', { timeout: 600_000 }), async (t) => {
  const folder = temporaryFolder(t);
  const environment = { PATH: process.env['PATH'], HOME: folder, GOFLAGS: '-mod=mod', GOPROXY: 'off' };
  const run = (...words: readonly string[]) =>
    execFileSync(obtain('go'), words, { cwd: folder, encoding: 'utf8', env: environment });
  mkdirSync(join(folder, 'causeway'));
  writeFileSync(join(folder, 'go.mod'), 'module example.com/try\n\ngo 1.19\n');
  writeFileSync(join(folder, 'causeway/causeway.go'), generate('go'));
  writeFileSync(join(folder, 'main.go'), GO);
  run('vet', './...');
  const { controlUrl, token } = await startService(t);
  assert.equal(
    run('run', '.', controlUrl, token),
    'www.example.com\ntrue true 0 200\ntrue <nil>\ntrue true\ntrue <nil>\n',
  );
});
