import * as v from 'valibot'
import { field, section } from './section.ts'
import {
  basePath,
  boolean,
  bytes,
  count,
  host,
  milliseconds,
  origin,
  port,
  proxies,
  seconds,
  strings,
  within,
} from './values.ts'

/** The listener and what it accepts. */
export const ServerSection = section({
  host: field(host, '127.0.0.1', {
    note: 'Address to listen on. Bind to all interfaces only behind a reverse proxy.',
  }),
  port: field(port, 8080, { note: 'Port to listen on; 0 picks a free port and prints it.' }),
  basePath: field(basePath, '/v1', {
    note: 'Prefix of every route. If another web server mounts the API, it includes the mount path (`/ai/v1`).',
  }),
  allowedHosts: field(strings, [], {
    note: 'Host names that are served with auth.kind none, in addition to the loopback names.',
  }),
  trustProxy: field(proxies, 0, {
    note: 'Reverse proxies whose X-Forwarded-For is trusted: their number, or their address ranges.',
  }),
  headersTimeoutMs: field(milliseconds(1), 10_000, {
    note: 'How long a client may take to send the request headers, in milliseconds; a slower client gets 408.',
  }),
  requestTimeoutMs: field(milliseconds(1), 30_000, {
    note: 'How long a client may take to send a whole request, in milliseconds; a slower client gets 408.',
  }),
  writeTimeoutMs: field(milliseconds(100), 30_000, {
    note: 'How long a client may take nothing while bytes of a response wait for it, in milliseconds; then the connection is closed.',
  }),
  maxConnections: field(count(1), 10_000, {
    note: 'Maximum number of open connections; further connections get 503. A low limit on open files lowers it.',
  }),
  maxConnectionsPerAddress: field(count(1), 256, {
    note: 'Maximum number of open connections per client address; does not apply to proxies in trustProxy. With a number of proxies, it applies to no connection.',
  }),
  headerLimitBytes: field(within(1_024, 1_048_576), 16_384, {
    note: 'Maximum size of the header block of a request, in bytes; a larger block gets 431.',
  }),
  maxHeaders: field(count(1), 100, { note: 'Maximum number of header fields; a request with more fields gets 431.' }),
  bodyLimitBytes: field(bytes, 1_048_576, { note: 'Maximum size of a request body, in bytes.' }),
  idempotency: section({
    requireKey: field(v.picklist(['warn', 'enforce']), 'warn', {
      note: 'Whether side-effecting routes reject a request without Idempotency-Key (enforce) or only warn.',
    }),
    ttlSeconds: field(seconds, 86_400, {
      note: 'How long the response to a request with an Idempotency-Key is kept, in seconds.',
    }),
  }),
  cors: section({
    allowOrigins: field(v.array(origin), [], {
      note: 'Origins of web pages that may call the server; ["*"] allows every origin. None by default.',
    }),
  }),
  csrf: section({
    enabled: field(boolean, true, {
      note: 'Double-submit CSRF check for cookie-authenticated requests; bearer requests are exempt.',
    }),
  }),
  rateLimit: section({
    perIpRequests: field(count(1), 60, { note: 'Maximum requests per minute per client address.' }),
  }),
  shutdown: section({
    drainTimeoutMs: field(milliseconds(0), 30_000, {
      note: 'How long in-flight runs may take to finish after SIGTERM, in milliseconds.',
    }),
  }),
})
