import * as v from 'valibot'
import { ModelPrices } from '../model-prices.ts'
import { strictObject } from '../plain-object.ts'
import { AuditSection } from './audit.ts'
import { AuthSection } from './auth.ts'
import { ConsoleSection } from './console.ts'
import { ConsolidatorSection } from './consolidator.ts'
import { FilesSection } from './files.ts'
import { McpSection } from './mcp.ts'
import { MemorySection } from './memory.ts'
import { ProtocolsSection } from './protocols.ts'
import { RealtimeSection } from './realtime.ts'
import { RetentionSection } from './retention.ts'
import { RunsSection } from './runs.ts'
import { field, optionalField, section } from './section.ts'
import { ServerSection } from './server.ts'
import { SkillsSection } from './skills.ts'
import { StorageSection } from './storage.ts'
import { boolean, bytes } from './values.ts'
import { WebhooksSection } from './webhooks.ts'

/** Every configuration field with its default; a Standard Schema. Rejects unknown fields. */
export const ServerConfigSchema = strictObject({
  server: ServerSection,
  auth: AuthSection,
  storage: StorageSection,
  runs: RunsSection,
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
  skills: SkillsSection,
  mcp: McpSection,
  triggers: section({
    enabled: field(boolean, true, {
      note: 'Whether the server fires triggers, those of events and by hand among them. When false, occurrences wait, and a later start decides them by the policy of the trigger.',
    }),
  }),
  webhooks: WebhooksSection,
  memory: MemorySection,
  consolidator: ConsolidatorSection,
  audit: AuditSection,
  retention: RetentionSection,
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
