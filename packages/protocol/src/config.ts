import * as v from 'valibot'
import {
  basePath,
  boolean,
  bytes,
  count,
  host,
  hostWithPort,
  milliseconds,
  origin,
  port,
  proxies,
  SecretReference,
  seconds,
  strings,
  within,
} from './config-values.ts'
import { strictObject } from './plain-object.ts'

/** The description of a field on the reference page and in `--help`. */
export interface FieldNote {
  readonly note: string
}

const field = <Schema extends v.GenericSchema, const Default extends v.InferInput<Schema> | undefined>(
  schema: Schema,
  fallback: Default,
  note: FieldNote,
) => v.optional(v.pipe(schema, v.metadata({ ...note })), fallback as never)

const optionalField = <Schema extends v.GenericSchema>(schema: Schema, note: FieldNote) =>
  v.optional(v.pipe(schema, v.metadata({ ...note })))

const section = <Entries extends v.ObjectEntries>(entries: Entries) => v.optional(strictObject(entries), {} as never)

/** Every configuration field with its default; a Standard Schema. Rejects unknown fields. */
export const ServerConfigSchema = strictObject({
  server: section({
    host: field(host, '127.0.0.1', {
      note: 'Address to listen on. Bind to all interfaces only behind a reverse proxy.',
    }),
    port: field(port, 8080, { note: 'Port to listen on; 0 picks a free port and prints it.' }),
    basePath: field(basePath, '/v1', { note: 'Prefix of every route.' }),
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
  }),
  auth: section({
    kind: field(v.picklist(['token', 'none']), 'token', {
      note: 'token: require a bearer token; none: require no credentials, for trusted use on loopback.',
    }),
    pepperRef: optionalField(SecretReference, {
      note: 'Secret reference to the HMAC pepper, at least 32 bytes; required with auth.kind token.',
    }),
    previousPepperRefs: field(v.array(SecretReference), [], {
      note: 'Secret references to earlier peppers; tokens created with these stay valid.',
    }),
    lockout: section({
      blockValid: field(boolean, false, {
        note: 'Whether a locked-out address is refused even with a valid token.',
      }),
    }),
    allowNoneOnNetwork: field(boolean, false, { note: 'Allow auth.kind none on an address other than loopback.' }),
  }),
  storage: section({
    path: field(v.pipe(v.string(), v.minLength(1)), './.graphorin/data.db', {
      note: 'Path of the database file. The default is the literal of the published interface document, kept on purpose.',
    }),
    mode: field(v.picklist(['server', 'lib']), 'server', {
      note: 'server: the process owns the file exclusively; lib: no exclusive lock, so other processes may open the file too.',
    }),
    synchronous: field(v.picklist(['full', 'normal']), 'full', {
      note: 'full: commits survive a power loss; normal: commits survive a crash of the process.',
    }),
    minFreeBytes: field(bytes, 104_857_600, {
      note: 'Free disk space below which the storage check warns and health becomes degraded, in bytes.',
    }),
    encryption: section({
      enabled: field(boolean, false, {
        note: 'Encrypt the database file; needs the package better-sqlite3-multiple-ciphers and passphraseRef.',
      }),
      passphraseRef: optionalField(SecretReference, {
        note: 'Secret reference to the passphrase of the database file.',
      }),
    }),
  }),
  runs: section({
    concurrency: field(count(1), 64, { note: 'Maximum number of runs that this process executes at once.' }),
    maxQueued: field(count(0), 10_000, {
      note: 'Maximum number of queued runs; when the queue is full, new runs get 503 queue-full.',
    }),
    maxResultBytes: field(bytes, 1_048_576, { note: 'Maximum size of the input or the result of a run, in bytes.' }),
    maxEventBytes: field(bytes, 262_144, { note: 'Maximum size of an event payload, in bytes.' }),
    abortGraceMs: field(milliseconds(0), 5_000, {
      note: 'How long an aborted run may hold its slot before it is detached, in milliseconds.',
    }),
  }),
  realtime: section({
    maxSseStreams: field(count(1), 1_000, { note: 'Maximum number of open SSE streams.' }),
    sseHeartbeatMs: field(milliseconds(100), 15_000, {
      note: 'Interval of the heartbeat comment on an idle SSE stream, in milliseconds.',
    }),
    stallMs: field(milliseconds(100), 10_000, {
      note: 'How long a client may read nothing while events are pending before it is disconnected, in milliseconds.',
    }),
    maxTicketsPerToken: field(count(1), 16, { note: 'Maximum number of unused WebSocket tickets per token.' }),
    ticketTtlMs: field(milliseconds(1_000), 30_000, { note: 'How long a WebSocket ticket is valid, in milliseconds.' }),
    webSocket: section({
      maxConnections: field(count(1), 1_000, { note: 'Maximum number of open WebSockets.' }),
      maxConnectionsPerToken: field(count(1), 20, { note: 'Maximum number of open WebSockets per token.' }),
      maxSubscriptions: field(count(1), 200, { note: 'Maximum number of subscriptions per WebSocket.' }),
      maxFrameBytes: field(bytes, 65_536, {
        note: 'Maximum size of a client message, in bytes; a larger message closes the connection with 1009.',
      }),
      maxMessages: field(count(1), 100, {
        note: 'Maximum number of messages per client in 10 s; more messages close the connection with 4005.',
      }),
      heartbeatMs: field(milliseconds(100), 25_000, {
        note: 'Interval between server pings, in milliseconds; two missed pongs close the connection.',
      }),
      maxUnsentBytes: field(bytes, 1_048_576, {
        note: 'Unsent bytes that a slow client may accumulate for up to realtime.stallMs; then the connection closes with 4006.',
      }),
      maxUnsentBurstBytes: field(bytes, 8_388_608, {
        note: 'Maximum number of unsent bytes for a client at any time; above it, the connection closes with 4006.',
      }),
    }),
    cache: section({
      maxEvents: field(count(0), 1_000, {
        note: 'Maximum number of recent events kept in memory per watched subject.',
      }),
      ttlMs: field(milliseconds(0), 300_000, { note: 'How long an event is kept in memory, in milliseconds.' }),
      maxSubjectBytes: field(bytes, 2_097_152, {
        note: 'Memory limit for the recent events of one subject, in bytes.',
      }),
      maxBytes: field(bytes, 67_108_864, { note: 'Memory limit for the recent events of all subjects, in bytes.' }),
    }),
    sanitizer: section({
      policy: field(v.picklist(['redact', 'strip', 'pass']), 'redact', {
        note: 'Treatment of credentials and addresses in commentary and reasoning: redact replaces them by their kind, strip removes them, pass sends them unchanged.',
      }),
    }),
  }),
  skills: section({
    directories: field(strings, [], {
      note: 'Folders that contain skills: each child folder with a SKILL.md is a skill. New skills are installed into the first folder.',
    }),
    sources: field(strings, [], { note: 'Folders that skills can be installed from.' }),
    maxFileBytes: field(bytes, 1_048_576, { note: 'Maximum size of a skill file that can be read, in bytes.' }),
    maxInstallBytes: field(bytes, 67_108_864, { note: 'Maximum size of a skill that can be installed, in bytes.' }),
  }),
  mcp: section({
    allowHosts: field(v.array(hostWithPort), [], {
      note: 'Hosts of MCP servers that may be added over REST; include the port unless it is the default port.',
    }),
    allowHeadersRefs: field(v.array(SecretReference), [], {
      note: 'Secret references to headers that may be used for MCP servers added over REST; resolved before the server listens.',
    }),
    connectTimeoutMs: field(milliseconds(1), 10_000, {
      note: 'How long connecting to an MCP server may take, in milliseconds.',
    }),
    callTimeoutMs: field(milliseconds(1), 60_000, {
      note: 'How long a call to an MCP tool may take, in milliseconds.',
    }),
    maxResultBytes: field(bytes, 1_048_576, { note: 'Maximum size of the result of an MCP tool, in bytes.' }),
  }),
  memory: section({
    maxFactBytes: field(within(1, 65_536), 16_384, { note: 'Maximum length of the text of a fact, in bytes.' }),
    blockLimit: field(count(1), 2_000, {
      note: 'Maximum number of characters in a block that has no limit of its own.',
    }),
    similarityPercent: field(within(50, 100), 70, {
      note: 'Share of words that two facts must have in common to count as near-duplicates, in percent.',
    }),
    vectorCandidates: field(within(1, 100_000), 5_000, {
      note: 'Maximum number of facts whose vectors a search compares, newest first.',
    }),
    embedTimeoutMs: field(milliseconds(1), 5_000, {
      note: 'How long the embedder may take, in milliseconds; after that, search falls back to words alone.',
    }),
  }),
  consolidator: section({
    enabled: field(boolean, true, { note: 'Whether the consolidator runs in this process.' }),
    idleAfterMs: field(milliseconds(100), 900_000, {
      note: 'How long a session must be idle, without a run or message, before it is consolidated, in milliseconds.',
    }),
    leaseMs: field(milliseconds(1_000), 300_000, {
      note: 'How long a phase may work on a job, in milliseconds; after a crash, the job is retried when this lease expires.',
    }),
    halfLifeDays: field(within(1, 36_500), 30, { note: 'Half-life of the importance of a fact, in days.' }),
    tokensPerDay: optionalField(count(0), {
      note: 'Tokens that your own phases may spend per day (UTC); unlimited when not set.',
    }),
    usdCentsPerDay: optionalField(count(0), {
      note: 'US cents that your own phases may spend per day (UTC); unlimited when not set.',
    }),
  }),
  audit: section({
    enabled: field(boolean, false, {
      note: 'Record every request in a separate encrypted file; when false, only privileged actions are recorded, in the database.',
    }),
    path: field(v.pipe(v.string(), v.minLength(1)), './.graphorin/audit.db', {
      note: 'Path of the audit log file, when audit.enabled is true.',
    }),
    passphraseRef: optionalField(SecretReference, {
      note: 'Secret reference to the passphrase of the audit log file; required when audit.enabled is true.',
    }),
    keyRef: optionalField(SecretReference, {
      note: 'Secret reference to the key that signs the chain head and the checkpoints, at least 32 bytes; when not set, the key is derived from the pepper.',
    }),
    checkpointPath: optionalField(v.pipe(v.string(), v.minLength(1)), {
      note: 'Path of the file with signed checkpoints, ideally on another volume; when not set, the file is next to the chain.',
    }),
    retentionDays: optionalField(count(1), {
      note: 'Days after which audit entries are removed, up to the last checkpoint before that time; never when not set.',
    }),
    events: field(v.picklist(['privileged', 'all', 'none']), 'privileged', {
      note: 'Which audit entries are also published to the event log under the subject audit/events, where they have only the protection of the database.',
    }),
  }),
  retention: section({
    eventsDays: field(count(1), 30, {
      note: 'Days after which events are removed, except those of active runs; a client resuming from an older cursor gets a gap notice.',
    }),
    runsDays: optionalField(count(1), {
      note: 'Days after which ended runs are removed, with their calls and approvals; never when not set.',
    }),
    sessionsDays: optionalField(count(1), {
      note: 'Days of inactivity after which sessions are removed, with all their data; never when not set.',
    }),
  }),
  metrics: section({
    enabled: field(boolean, true, { note: 'Mount the metrics route.' }),
    requireAuth: field(boolean, false, { note: 'Require the scope admin:metrics:read on the metrics route.' }),
  }),
  health: section({
    walWarnThresholdBytes: field(bytes, 52_428_800, {
      note: 'Size of the write-ahead log above which the storage check warns, in bytes.',
    }),
  }),
  telemetry: section({
    traces: field(boolean, false, {
      note: 'Create OpenTelemetry spans for requests, runs, steps and tools; needs the package @opentelemetry/api and exports nothing by itself.',
    }),
  }),
  docs: section({
    enabled: field(boolean, true, { note: 'Mount the routes openapi.json, asyncapi.json and docs.' }),
  }),
  log: section({
    level: field(v.picklist(['debug', 'info', 'warn', 'error', 'silent']), 'info', {
      note: 'Minimum severity of log lines that are written.',
    }),
  }),
})

/** The configuration as an operator writes it: every field is optional. */
export type ServerConfigInput = v.InferInput<typeof ServerConfigSchema>
/** The configuration the server runs with: defaults filled in. */
export type ServerConfig = v.InferOutput<typeof ServerConfigSchema>
