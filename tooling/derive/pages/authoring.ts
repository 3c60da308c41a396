import { interfaceMembers } from '../interface-members.ts'
import { code, page, table } from '../markdown.ts'

/** A documented type: heading, source file, interface name and an introduction. */
type DocumentedType = readonly [heading: string, path: string, name: string, about: string]

const CORE = 'packages/core/src'
const APP = 'packages/server-app/src'

// biome-ignore format: a table is read by its rows
const DOCUMENTED_TYPES: readonly DocumentedType[] = [
  ['Registrations', `${CORE}/targets/registration.ts`, 'RegistrationOptions', 'Options that agents and workflows share. `defineAgent` and `defineWorkflow` also take the code, `run(input, ctx)`. It returns a JSON value as its result, or is an async generator that yields events and returns the result. In a plain object, the code may also be in `agent: { run }` or `workflow: { execute }`.'],
  ['Option `budget`', `${CORE}/targets/budget-options.ts`, 'BudgetOptions', ''],
  ['Option `scorers`', `${CORE}/targets/scoring-options.ts`, 'ScoringOptions', 'The [guide](../guides/evaluate-agents.md#judge-runs-in-production) shows an example.'],
  ['Option `protocols`', `${CORE}/targets/registration.ts`, 'ProtocolOptions', 'The [guide](../guides/chat-clients.md) describes the clients of chats, and the input that `fromChat` gets.'],
  ['Argument of `protocols.errors`', `${CORE}/targets/registration.ts`, 'ProtocolError', ''],
  ['Option `concurrency`', `${CORE}/targets/flow-control.ts`, 'ConcurrencyLimit', 'The object form. Read the [guide](../guides/flow-control.md) for examples of all limits.'],
  ['Option `rateLimit`', `${CORE}/targets/flow-control.ts`, 'RateLimit', ''],
  ['Option `debounce`', `${CORE}/targets/flow-control.ts`, 'Debounce', ''],
  ['Second argument of a key function', `${CORE}/targets/flow-control.ts`, 'FlowKeyMeta', 'A `key` is `\'session\'`, `\'user\'`, `\'owner\'`, or a function that gets the parsed input and this object. It is called once, when the run is accepted, and returns a string, or `undefined` for a run that is not limited.'],
  ['Options of `createServer`', `${APP}/server-options.ts`, 'ServerOptions', '`defineConfig` takes the same options, with the sections of the [configuration](config.md) in place of `config`.'],
  ['Hooks', `${APP}/hooks.ts`, 'Hooks', ''],
  ['Run context', `${CORE}/targets/run-context.ts`, 'RunContext', 'The second argument of `run`.'],
  ['Calls that show something', `${CORE}/durable/authoring.ts`, 'Authoring', 'Members of the run context.'],
  ['The context member `state`', `${CORE}/durable/authoring.ts`, 'StateWriter', ''],
  ['Options of `data`', `${CORE}/durable/authoring.ts`, 'DataOptions', ''],
  ['Argument of `source`', `${CORE}/durable/authoring.ts`, 'SourceReference', ''],
  ['Argument of `file`', `${CORE}/durable/authoring.ts`, 'FileReference', ''],
  ['Options of `stream`', `${CORE}/durable/stream-call.ts`, 'StreamOptions', 'Also takes the options of `step`.'],
  ['Result of `stream`', `${CORE}/model-parts/stream-writer.ts`, 'StreamSummary', ''],
  ['Services of the run context', `${CORE}/targets/run-services.ts`, 'RunServices', ''],
  ['Yielded events', `${CORE}/targets/agent.ts`, 'AgentEvent', 'An async generator can yield these instead of calling `emit`.'],
  ['Options of `emit`', `${CORE}/targets/run-context.ts`, 'EmitOptions', ''],
  ['Options of `step`', `${CORE}/durable/step.ts`, 'StepOptions', ''],
  ['Options after an error or a crash', `${CORE}/durable/step.ts`, 'RepeatOptions', 'Options of `step` and `tool`. Registrations have `retries`, `recoveries` and `onCrash`, too.'],
  ['Option `retries`', `${CORE}/durable/step.ts`, 'RetryOptions', 'The object form. A number is short for `{ max }`.'],
  ['Options of `waitForEvent`', `${CORE}/durable/wait-call.ts`, 'WaitOptions', ''],
  ['Argument of a step or tool function', `${CORE}/durable/step.ts`, 'StepContext', 'The argument of a step function, and the second argument of a tool’s `execute`.'],
  ['Options of `tool`', `${CORE}/durable/tool.ts`, 'ToolCall', '`tool` returns `{ ok: true, value }` or `{ ok: false, error: { kind, message } }`.'],
  ['Argument of `clientTool`', `${CORE}/durable/client-tool.ts`, 'ClientToolCall', 'The result is that of `tool`.'],
  ['Options of `approval`', `${CORE}/durable/approvals/approval-options.ts`, 'ApprovalOptions', ''],
  ['Result of `approval`', `${CORE}/durable/approvals/approval-options.ts`, 'ApprovalDecision', ''],
  ['Argument of `suspend`', `${CORE}/durable/suspension.ts`, 'SuspendRequest', ''],
  ['The context member `resume`', `${CORE}/targets/run-context.ts`, 'Resume', ''],
  ['Argument of `usage`', `${CORE}/durable/usage/usage-report.ts`, 'UsageReport', ''],
  ['The context member `session`', `${CORE}/sessions/run-session.ts`, 'RunSession', 'These calls are durable, like `step`; so are the calls of `memory`, `skills` and `mcp`.'],
  ['The context member `memory`', `${CORE}/memory/run-memory.ts`, 'RunMemory', ''],
  ['Result of `memory.block(label)`', `${CORE}/memory/run-memory.ts`, 'RunBlock', ''],
  ['The context member `files`', `${CORE}/files/run-files.ts`, 'RunFiles', ''],
  ['Argument of `files.write`', `${CORE}/files/run-files.ts`, 'NewFile', ''],
  ['The context member `skills`', `${CORE}/skills/run-skills.ts`, 'RunSkills', ''],
  ['The context member `mcp`', `${CORE}/mcp/run-mcp.ts`, 'RunMcp', ''],
  ['Options of `mcp.call`', `${CORE}/mcp/run-mcp.ts`, 'McpCallOptions', '`mcp.call` also takes `onCrash`, with the meaning it has for `step`.'],
  ['Options of `retry`', `${CORE}/providers/retry.ts`, 'ProviderRetryOptions', '`retry` and `fallback` come from `@perdure/server-app/providers`.'],
  ['Options of `fallback`', `${CORE}/providers/fallback.ts`, 'FallbackOptions', ''],
  ['Options of `runAgent`', `${APP}/testing/run-agent.ts`, 'RunAgentOptions', 'Also takes `config`, `agents`, `workflows`, `skills`, `mcpServers`, `embedder` and `adapters`, as `createServer` does. `runAgent` and `runWorkflow` come from `@perdure/server-app/testing`.'],
  ['Result of `runAgent`', `${APP}/testing/run-agent.ts`, 'TestRun', 'Also has `status`, `finishReason`, `result` and `usage`, as `GET /runs/:runId` shows them.'],
]

export const authoringPage = (): string =>
  page(
    'Authoring',
    'The members of registrations and of the run context, and the options of each call. A member with `?` is optional. ' +
      'For triggers, see the [guide](../guides/triggers.md); for configuration fields, see [Configuration](config.md).',
    ...DOCUMENTED_TYPES.flatMap(([heading, path, name, about]) => [
      `## ${heading}`,
      ...(about === '' ? [] : [about]),
      table(
        ['Member', 'Description'],
        interfaceMembers(path, name).map(({ signature, description }) => [code(signature), description]),
      ),
    ]),
  ).replace('the tables of @perdure/protocol', 'the authoring types and their docstrings')
