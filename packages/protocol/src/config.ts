import * as v from 'valibot'
import { ConsoleSection } from './config-console.ts'
import { HookConfigs } from './config-hooks.ts'
import { JwtIssuers } from './config-jwt.ts'
import { ProtocolsSection } from './config-protocols.ts'
import { RealtimeSection } from './config-realtime.ts'
import { field, optionalField, section } from './config-section.ts'
import { ServerSection } from './config-server.ts'
import { StorageSection } from './config-storage.ts'
import {
  boolean,
  bytes,
  count,
  days,
  hostWithPort,
  milliseconds,
  SecretReference,
  secondsFrom,
  share,
  strings,
  within,
} from './config-values.ts'
import { ModelPrices } from './model-prices.ts'
import { strictObject } from './plain-object.ts'

const FilesSection = section({
  maxBytes: field(bytes, 33_554_432, { note: 'Maximum size of a file, in bytes.' }),
  maxBytesPerOwner: field(bytes, 1_073_741_824, {
    note: 'Maximum size of all files of one owner together, in bytes.',
  }),
  allowHosts: field(v.array(hostWithPort), [], {
    note: 'Hosts from which the server may load files that clients link to although their addresses are not public; include the port unless it is the default port.',
  }),
})

/** Every configuration field with its default; a Standard Schema. Rejects unknown fields. */
export const ServerConfigSchema = strictObject({
  server: ServerSection,
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
    jwt: field(JwtIssuers, [], {
      note: 'Issuers whose JWTs are accepted besides tokens, with auth.kind token. Each has `id`, `issuer`, `audience`, `keys` (`{ secretRef }` or `{ jwksUrl }`), `algorithms` and `scopes`, and optionally `subject`, `maxScopes`, `claims`, `typ`, `maxAge` and `clockTolerance`.',
    }),
    lockout: section({
      blockValid: field(boolean, false, {
        note: 'Whether a locked-out address is refused even with a valid token.',
      }),
    }),
    allowNoneOnNetwork: field(boolean, false, { note: 'Allow auth.kind none on an address other than loopback.' }),
  }),
  storage: StorageSection,
  runs: section({
    concurrency: field(count(1), 64, { note: 'Maximum number of runs that this process executes at once.' }),
    maxQueued: field(count(0), 10_000, {
      note: 'Maximum number of queued runs; when the queue is full, new runs get 503 queue-full. A subject with fewer than a sixteenth of this number may exceed it.',
    }),
    maxShare: field(share, 0.5, {
      note: 'Part of all slots that the runs of one subject may hold while runs of other subjects wait; 1 turns the limit off.',
    }),
    perSubject: section({
      maxActive: optionalField(count(1), {
        note: 'Maximum number of queued and running runs of one subject; further starts get 429 quota-exceeded. Suspended runs and child runs do not count. Unlimited when not set.',
      }),
      maxPerDay: optionalField(count(1), {
        note: 'Maximum number of runs that one subject starts per day (UTC), without child runs; unlimited when not set.',
      }),
      maxUsdCentsPerDay: optionalField(count(1), {
        note: 'US cents that the runs of one subject may cost per day (UTC); a run counts on the day on which it was created. A started run is not stopped: limit it with a budget. Unlimited when not set.',
      }),
    }),
    maxResultBytes: field(bytes, 1_048_576, {
      note: 'Maximum size of the input or the result of a run, in bytes. A longer result of a step or a tool is stored as a file.',
    }),
    maxEventBytes: field(bytes, 262_144, { note: 'Maximum size of an event payload, in bytes.' }),
    abortGraceMs: field(milliseconds(0), 5_000, {
      note: 'How long an aborted run may hold its slot before it is detached, in milliseconds.',
    }),
    captureLogs: field(v.picklist(['ctx', 'off']), 'ctx', {
      note: 'ctx: the lines that code writes with ctx.log are also stored as events of its run; off: only the log of the server contains them.',
    }),
    maxBlockMs: optionalField(milliseconds(1_000), {
      note: 'How long code may block the event loop before the process exits with code 70, in milliseconds; never when not set.',
    }),
  }),
  models: section({
    prices: optionalField(ModelPrices, {
      note: 'Prices of models in US dollars per million tokens, by the id of the model or by `provider/id`, such as {"gpt-5-mini": {"inputUsdPerMillion": 0.25, "outputUsdPerMillion": 2, "cachedInputUsdPerMillion": 0.025}}. They turn usage into costs, which budgets limit. A configuration module can also have a function here, which gets a usage report and returns US dollars.',
    }),
  }),
  workflows: section({
    onDivergence: field(v.picklist(['park', 'fail']), 'park', {
      note: 'Treatment of a run whose code no longer makes the recorded calls, for workflows and agents. park: the run is suspended until other code is registered; fail: it ends with workflow-divergence.',
    }),
  }),
  sessions: section({
    createOnInvoke: field(boolean, false, {
      note: 'Whether a run may create the session that it names without the scope sessions:write. Then any caller that may start a run can occupy session ids.',
    }),
  }),
  realtime: RealtimeSection,
  protocols: ProtocolsSection,
  files: FilesSection,
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
  triggers: section({
    enabled: field(boolean, true, {
      note: 'Whether the server fires triggers, those of events and by hand among them. When false, occurrences wait, and a later start decides them by the policy of the trigger.',
    }),
  }),
  webhooks: section({
    enabled: field(boolean, true, {
      note: 'Whether the server sends webhooks. When false, deliveries wait for a later start.',
    }),
    allowHosts: field(v.array(hostWithPort), [], {
      note: 'Hosts to which webhooks may connect over http: and at addresses that are not public; include the port unless it is the default port.',
    }),
    timeoutMs: field(milliseconds(1), 15_000, {
      note: 'How long an endpoint may take to answer a delivery, in milliseconds.',
    }),
    maxPerSubject: field(within(1, 900), 20, {
      note: 'Maximum number of webhooks that a subject adds with webhooks:write:own. Tokens with webhooks:write are not bound by it.',
    }),
    in: field(HookConfigs, [], {
      note: "Hooks: addresses at which the server receives signed requests of other services, `POST /hooks/:id`. Each has `id`, `verify` ('standard-webhooks', 'github', 'stripe', 'slack', 'linear', 'shopify', `{ kind: 'hmac', header, algorithm, encoding, prefix, payload, timestampHeader, timestampUnit, idHeader, secretEncoding }`, `{ kind: 'jwt', header, issuer, audience, algorithms, jwksUrl, bodyHashClaim }` or a function) and `secretRef` (a reference or a list of them), and optionally `to` (`{ agent | workflow, input, sessionId }` or `{ event, input, key }`), `toleranceSeconds` (1 to 3600; 300, or 60 for linear) and `headers` (names of headers to store).",
    }),
    inRequestsPerMinute: field(within(1, 10_000_000), 12_000, {
      note: 'Maximum number of requests per minute from one client address to one hook.',
    }),
    inBodyLimitBytes: field(within(1, 26_214_400), 1_048_576, {
      note: 'Maximum size of the body of a request to a hook, in bytes.',
    }),
    inKeepDays: field(days(1), 30, {
      note: 'Days after which deliveries that hooks have received are removed. Until then, a repeated delivery starts nothing.',
    }),
    retentionDays: field(days(4), 30, {
      note: 'Days after which ended webhook deliveries are removed. The server retries a pending delivery for about 3 days.',
    }),
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
    halfLifeDays: field(days(1, 36_500), 30, { note: 'Half-life of the importance of a fact, in days.' }),
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
    retentionDays: optionalField(days(1), {
      note: 'Days after which audit entries are removed, up to the last checkpoint before that time; never when not set.',
    }),
    events: field(v.picklist(['privileged', 'all', 'none']), 'privileged', {
      note: 'Which audit entries are also published to the event log under the subject audit/events, where they have only the protection of the database.',
    }),
  }),
  retention: section({
    eventsDays: field(days(1), 30, {
      note: 'Days after which events are removed, except those of active runs; a client resuming from an older cursor gets a gap notice.',
    }),
    tokensDays: field(days(1), 30, {
      note: 'Days after which expired and revoked tokens are removed, sessions of the console among them.',
    }),
    runsDays: optionalField(days(1), {
      note: 'Days after which ended runs are removed, with their calls and approvals; never when not set.',
    }),
    undeclaredSeconds: field(secondsFrom(0), 3_600, {
      note: 'How long a trigger or webhook keeps working that no running server declares any more; afterwards the trigger no longer fires, and the webhook is removed with its deliveries.',
    }),
    sessionsDays: optionalField(days(1), {
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
  tracing: section({
    recordContent: field(boolean, false, {
      note: 'Whether the spans of model calls contain what the models are asked and what they answer, with telemetry.traces.',
    }),
  }),
  console: ConsoleSection,
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
