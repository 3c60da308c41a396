import * as v from 'valibot'
import { strictObject } from './plain-object.ts'

/** What the reference page and `--help` say about a field. */
export interface FieldNote {
  readonly note: string
}

const SECRET_REFERENCE = /^[a-z][a-z0-9-]*:[\s\S]+$/
const NOT_A_REFERENCE = 'must be a secret reference such as env:NAME or file:path, not the secret itself'

/** `env:NAME`, `file:path`, …: never the secret itself. The messages do not echo the value. */
export const SecretReference = v.pipe(v.string(NOT_A_REFERENCE), v.regex(SECRET_REFERENCE, NOT_A_REFERENCE))

const field = <Schema extends v.GenericSchema, const Default extends v.InferInput<Schema> | undefined>(
  schema: Schema,
  fallback: Default,
  note: FieldNote,
) => v.optional(v.pipe(schema, v.metadata({ ...note })), fallback as never)

const optionalField = <Schema extends v.GenericSchema>(schema: Schema, note: FieldNote) =>
  v.optional(v.pipe(schema, v.metadata({ ...note })))

const section = <Entries extends v.ObjectEntries>(entries: Entries) => v.optional(strictObject(entries), {} as never)

const boolean = v.boolean()
const strings = v.array(v.string())
const within = (minimum: number, maximum: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(minimum), v.maxValue(maximum))
const seconds = within(1, 10 * 365 * 86_400)
const milliseconds = (minimum: number) => within(minimum, 2 ** 31 - 1)
const bytes = within(1, 2 ** 40)
const count = (minimum: number) => within(minimum, 2 ** 31 - 1)
const port = within(0, 65_535)
const host = v.pipe(v.string(), v.regex(/^\S+$/, 'must be a host name or an address'))
const basePath = v.pipe(
  v.string(),
  v.regex(/^(?:\/(?!\.\.?(?:\/|$))[A-Za-z0-9._~-]+)+$/, 'must look like /v1, without . and .. in it'),
)
const hostWithPort = v.pipe(
  v.string(),
  v.regex(
    /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/,
    'must be a host such as mcp.example.com or localhost:3000',
  ),
)
const origin = v.union([
  v.literal('*'),
  v.pipe(v.string(), v.regex(/^https?:\/\/[^/\s]+$/, 'must be an origin such as https://app.example.com')),
])

const RANGE =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/(?:[12]?\d|3[0-2]))?|(?=[^/]*:)[0-9a-fA-F:.]+(?:\/(?:\d{1,2}|1[01]\d|12[0-8]))?)$/
const proxies = v.union([
  within(0, 32),
  v.array(v.pipe(v.string(), v.regex(RANGE, 'must be a range of addresses such as 10.0.0.0/8'))),
])

/** Every configuration field with its default; a Standard Schema. Unknown fields are refused. */
export const ServerConfigSchema = strictObject({
  server: section({
    host: field(host, '127.0.0.1', { note: 'Address to listen on; all interfaces only behind a reverse proxy.' }),
    port: field(port, 8080, { note: 'Port to listen on; 0 binds a free one and prints it.' }),
    basePath: field(basePath, '/v1', { note: 'Prefix of every route.' }),
    allowedHosts: field(strings, [], { note: 'Host names answered with auth.kind none, besides the loopback names.' }),
    trustProxy: field(proxies, 0, {
      note: 'Proxies in front whose X-Forwarded-For is believed: how many there are, or the ranges of their addresses.',
    }),
    headersTimeoutMs: field(milliseconds(1), 10_000, {
      note: 'How long a client may take to send the headers of a request, in milliseconds; over it 408.',
    }),
    requestTimeoutMs: field(milliseconds(1), 30_000, {
      note: 'How long a client may take to send a whole request, in milliseconds; over it 408.',
    }),
    headerLimitBytes: field(within(1_024, 1_048_576), 16_384, { note: 'Largest header block, in bytes; over it 431.' }),
    maxHeaders: field(count(1), 100, { note: 'Header fields of a request at most; over it 431.' }),
    bodyLimitBytes: field(bytes, 1_048_576, { note: 'Largest request body, in bytes.' }),
    idempotency: section({
      requireKey: field(v.picklist(['warn', 'enforce']), 'warn', {
        note: 'Whether side-effecting routes refuse a request without Idempotency-Key.',
      }),
      ttlSeconds: field(seconds, 86_400, { note: 'How long an answer is remembered under its key, in seconds.' }),
    }),
    cors: section({
      allowOrigins: field(v.array(origin), [], {
        note: 'Origins browsers may call from; ["*"] for any. Denied by default.',
      }),
    }),
    csrf: section({
      enabled: field(boolean, true, {
        note: 'Double-submit check of cookie-authenticated requests; bearer requests are exempt.',
      }),
    }),
    rateLimit: section({
      perIpRequests: field(count(1), 60, { note: 'Requests per minute and client address.' }),
    }),
    shutdown: section({
      drainTimeoutMs: field(milliseconds(0), 30_000, {
        note: 'How long runs may finish after SIGTERM, in milliseconds.',
      }),
    }),
  }),
  auth: section({
    kind: field(v.picklist(['token', 'none']), 'token', { note: 'Bearer tokens, or none for trusted loopback use.' }),
    pepperRef: optionalField(SecretReference, {
      note: 'Secret reference of the HMAC pepper, at least 32 bytes; required for tokens.',
    }),
    previousPepperRefs: field(v.array(SecretReference), [], { note: 'Earlier peppers whose tokens stay valid.' }),
    lockout: section({
      blockValid: field(boolean, false, {
        note: 'Whether a locked address is refused even with a valid token.',
      }),
    }),
    allowNoneOnNetwork: field(boolean, false, { note: 'Lets auth.kind none bind beyond loopback.' }),
  }),
  storage: section({
    path: field(v.pipe(v.string(), v.minLength(1)), './.graphorin/data.db', { note: 'File of the database.' }),
    mode: field(v.picklist(['server', 'lib']), 'server', {
      note: 'server: exclusive owner of the file; lib: embedded in another process.',
    }),
    synchronous: field(v.picklist(['full', 'normal']), 'full', {
      note: 'full survives power loss; normal survives a crash of the process.',
    }),
    minFreeBytes: field(bytes, 104_857_600, {
      note: 'When less of the disk is free, in bytes, the storage check warns: the server is degraded before the disk is full.',
    }),
    encryption: section({
      enabled: field(boolean, false, {
        note: 'Encryption at rest; needs the package better-sqlite3-multiple-ciphers and passphraseRef.',
      }),
      passphraseRef: optionalField(SecretReference, {
        note: 'Secret reference of the passphrase of the database file.',
      }),
    }),
  }),
  runs: section({
    concurrency: field(count(1), 64, { note: 'Runs executing at once in this process.' }),
    maxQueued: field(count(0), 10_000, { note: 'Runs waiting at most; over it the answer is 503 queue-full.' }),
    maxResultBytes: field(bytes, 1_048_576, { note: 'Largest input or result of a run, in bytes.' }),
    maxEventBytes: field(bytes, 262_144, { note: 'Largest payload of one event, in bytes.' }),
    abortGraceMs: field(milliseconds(0), 5_000, {
      note: 'How long an aborted run may keep its place before it is detached, in milliseconds.',
    }),
  }),
  realtime: section({
    maxSseStreams: field(count(1), 1_000, { note: 'Open SSE streams at most.' }),
    sseHeartbeatMs: field(milliseconds(100), 15_000, {
      note: 'Comment heartbeat of an idle SSE stream, in milliseconds.',
    }),
    stallMs: field(milliseconds(100), 10_000, {
      note: 'How long a reader may take nothing while events wait for it, in milliseconds.',
    }),
    maxTicketsPerToken: field(count(1), 16, { note: 'Unused WebSocket tickets of one token at most.' }),
    ticketTtlMs: field(milliseconds(1_000), 30_000, { note: 'How long a ticket may be used, in milliseconds.' }),
    webSocket: section({
      maxConnections: field(count(1), 1_000, { note: 'Open WebSockets at most.' }),
      maxConnectionsPerToken: field(count(1), 20, { note: 'Open WebSockets of one token at most.' }),
      maxSubscriptions: field(count(1), 200, { note: 'Subscriptions of one WebSocket at most.' }),
      maxFrameBytes: field(bytes, 65_536, { note: 'Largest message of a client, in bytes; a longer one closes 1009.' }),
      maxMessages: field(count(1), 100, { note: 'Messages of one client in 10 s at most; more close 4005.' }),
      heartbeatMs: field(milliseconds(100), 25_000, {
        note: 'How often the server pings, in milliseconds; two missed pongs end the connection.',
      }),
      maxUnsentBytes: field(bytes, 1_048_576, {
        note: 'Bytes that may wait for a slow client as long as realtime.stallMs; more close 4006.',
      }),
      maxUnsentBurstBytes: field(bytes, 8_388_608, { note: 'Bytes that may ever wait for a client; more close 4006.' }),
    }),
    cache: section({
      maxEvents: field(count(0), 1_000, { note: 'Recent events of one watched subject kept in memory at most.' }),
      ttlMs: field(milliseconds(0), 300_000, { note: 'How long an event is kept in memory, in milliseconds.' }),
      maxSubjectBytes: field(bytes, 2_097_152, { note: 'Memory for the recent events of one subject, in bytes.' }),
      maxBytes: field(bytes, 67_108_864, { note: 'Memory for all recent events, in bytes.' }),
    }),
    sanitizer: section({
      policy: field(v.picklist(['redact', 'strip', 'pass']), 'redact', {
        note: 'What becomes of credentials and addresses in commentary and reasoning: named, removed, or passed on.',
      }),
    }),
  }),
  skills: section({
    directories: field(strings, [], {
      note: 'Folders whose child folders with a SKILL.md are skills; the first one takes what is installed.',
    }),
    sources: field(strings, [], { note: 'Folders that skills may be installed from.' }),
    maxFileBytes: field(bytes, 1_048_576, { note: 'Largest file of a skill that is read, in bytes.' }),
    maxInstallBytes: field(bytes, 67_108_864, { note: 'Largest skill that is installed, in bytes.' }),
  }),
  mcp: section({
    allowHosts: field(v.array(hostWithPort), [], {
      note: 'Hosts, each with its port unless it is the default one, to which MCP servers may be bound over REST.',
    }),
    allowHeadersRefs: field(v.array(SecretReference), [], {
      note: 'Secret references that MCP servers bound over REST may name as their headers; resolved before the server binds.',
    }),
    connectTimeoutMs: field(milliseconds(1), 10_000, {
      note: 'How long connecting to an MCP server may take, in milliseconds.',
    }),
    callTimeoutMs: field(milliseconds(1), 60_000, {
      note: 'How long a call of an MCP tool may take, in milliseconds.',
    }),
    maxResultBytes: field(bytes, 1_048_576, { note: 'Largest answer of an MCP tool, in bytes.' }),
  }),
  memory: section({
    maxFactBytes: field(within(1, 65_536), 16_384, { note: 'Longest text of a fact, in bytes.' }),
    blockLimit: field(count(1), 2_000, { note: 'Characters that a block may hold unless it has a limit of its own.' }),
    similarityPercent: field(within(50, 100), 70, {
      note: 'Share of their words that two facts must have in common to be near-duplicates, in percent.',
    }),
    vectorCandidates: field(within(1, 100_000), 5_000, {
      note: 'Facts whose vectors a search compares at most, the newest first.',
    }),
    embedTimeoutMs: field(milliseconds(1), 5_000, {
      note: 'How long the embedder may take; a search then goes by words alone, in milliseconds.',
    }),
  }),
  consolidator: section({
    enabled: field(boolean, true, { note: 'Whether the consolidator works in this process.' }),
    idleAfterMs: field(milliseconds(100), 900_000, {
      note: 'A session without a run or message for this long is consolidated, in milliseconds.',
    }),
    leaseMs: field(milliseconds(1_000), 300_000, {
      note: 'How long one phase may work on a job; after a crash the job is taken again when this is over, in milliseconds.',
    }),
    halfLifeDays: field(within(1, 36_500), 30, { note: 'The importance of a fact halves in this time, in days.' }),
    tokensPerDay: optionalField(count(0), {
      note: 'Tokens that phases of your own may spend on a day (UTC); no limit when missing.',
    }),
    usdCentsPerDay: optionalField(count(0), {
      note: 'US cents that phases of your own may spend on a day (UTC); no limit when missing.',
    }),
  }),
  audit: section({
    enabled: field(boolean, false, {
      note: 'Records every request in an encrypted file of its own; without it, privileged actions in the database.',
    }),
    path: field(v.pipe(v.string(), v.minLength(1)), './.graphorin/audit.db', {
      note: 'File of the audit log, when it is enabled.',
    }),
    passphraseRef: optionalField(SecretReference, {
      note: 'Secret reference of the passphrase of that file; required when it is enabled.',
    }),
    keyRef: optionalField(SecretReference, {
      note: 'Secret reference of the key of the head and the checkpoints, at least 32 bytes; from the pepper when missing.',
    }),
    checkpointPath: optionalField(v.pipe(v.string(), v.minLength(1)), {
      note: 'File of the signed checkpoints, best on another volume; beside the chain when missing.',
    }),
    retentionDays: optionalField(count(1), {
      note: 'After how many days entries are removed, up to a checkpoint; never when missing.',
    }),
    events: field(v.picklist(['privileged', 'all', 'none']), 'privileged', {
      note: 'Which entries are also written to the event log, for audit/events; they stand there as the database does.',
    }),
  }),
  retention: section({
    eventsDays: field(count(1), 30, {
      note: 'After how many days the events of what has ended are removed; a cursor before them is told of the gap.',
    }),
    runsDays: optionalField(count(1), {
      note: 'After how many days runs that have ended are removed, with their calls and approvals; never when missing.',
    }),
    sessionsDays: optionalField(count(1), {
      note: 'After how many days without activity sessions are removed, with all that belongs to them; never when missing.',
    }),
  }),
  metrics: section({
    enabled: field(boolean, true, { note: 'Mounts the metrics route.' }),
    requireAuth: field(boolean, false, { note: 'The metrics route then needs admin:metrics:read.' }),
  }),
  health: section({
    walWarnThresholdBytes: field(bytes, 52_428_800, {
      note: 'Above this size of the write-ahead log, in bytes, the storage check warns.',
    }),
  }),
  telemetry: section({
    traces: field(boolean, false, {
      note: 'Makes OpenTelemetry spans of requests, runs, steps and tools; needs the package @opentelemetry/api, and exports nothing by itself.',
    }),
  }),
  docs: section({
    enabled: field(boolean, true, { note: 'Mounts openapi.json, asyncapi.json and docs.' }),
  }),
  log: section({
    level: field(v.picklist(['debug', 'info', 'warn', 'error', 'silent']), 'info', {
      note: 'Least severe log line that is written.',
    }),
  }),
})

/** What an operator writes: every field optional. */
export type ServerConfigInput = v.InferInput<typeof ServerConfigSchema>
/** What the server runs with: every default filled in. */
export type ServerConfig = v.InferOutput<typeof ServerConfigSchema>
