import { interfaceMembers } from '../interface-members.ts'
import { code, page, table } from '../markdown.ts'

/** A type that authors of agents meet: its heading, where it is declared, and what to know of it as a whole. */
type Shown = readonly [heading: string, path: string, name: string, about: string]

const CORE = 'packages/core/src'
const APP = 'packages/server-app/src'

// biome-ignore format: a table is read by its rows
const SHOWN: readonly Shown[] = [
  ['A registration', `${CORE}/agents/agent.ts`, 'RegistrationOptions', 'What agents and workflows have in common. An agent has `agent: { id, run(input, ctx) }` besides, a workflow `workflow: { id, execute(input, ctx) }`; each returns its result, which is JSON, or is an async generator that yields events and returns it.'],
  ['The options of `createServer`', `${APP}/server-options.ts`, 'ServerOptions', '`defineConfig` takes the same, with the sections of the [configuration](config.md) in place of `config`.'],
  ['Hooks', `${APP}/hooks.ts`, 'Hooks', ''],
  ['The context of a run', `${CORE}/agents/agent.ts`, 'RunContext', 'The second argument of `run` and `execute`.'],
  ['… and what it finds of the server', `${CORE}/agents/run-services.ts`, 'RunServices', ''],
  ['A yielded event', `${CORE}/agents/agent.ts`, 'AgentEvent', 'What an async generator yields, in place of calling `emit`.'],
  ['Options of `emit`', `${CORE}/agents/agent.ts`, 'EmitOptions', ''],
  ['Options of `step`', `${CORE}/steps/step.ts`, 'StepOptions', ''],
  ['`retry` of a step', `${CORE}/steps/step.ts`, 'StepRetry', ''],
  ['What the code of a step or a tool gets', `${CORE}/steps/step.ts`, 'StepTry', 'The argument of a step’s function, the second one of a tool’s `execute`.'],
  ['A call of `tool`', `${CORE}/tools/tool.ts`, 'ToolCall', 'It answers `{ ok: true, value }` or `{ ok: false, error: { kind, message } }`.'],
  ['Options of `approval`', `${CORE}/approvals/approval-options.ts`, 'ApprovalOptions', ''],
  ['A decision', `${CORE}/approvals/approval-options.ts`, 'ApprovalDecision', 'What `approval` answers.'],
  ['What `suspend` takes', `${CORE}/runs/suspension.ts`, 'SuspendRequest', ''],
  ['`resume`, after it', `${CORE}/agents/agent.ts`, 'Resume', ''],
  ['What `usage` takes', `${CORE}/runs/usage-report.ts`, 'UsageReport', ''],
  ['`session`', `${CORE}/sessions/run-session.ts`, 'RunSession', 'Durable calls, like `step`; so are those of `memory`, `skills` and `mcp`.'],
  ['`memory`', `${CORE}/memory/run-memory.ts`, 'RunMemory', ''],
  ['`memory.block(label)`', `${CORE}/memory/run-memory.ts`, 'RunBlock', ''],
  ['`skills`', `${CORE}/skills/run-skills.ts`, 'RunSkills', ''],
  ['`mcp`', `${CORE}/mcp/run-mcp.ts`, 'RunMcp', ''],
  ['Options of `mcp.call`', `${CORE}/mcp/run-mcp.ts`, 'McpCallOptions', 'And `onCrash`, as `step` has it.'],
  ['Options of `retry`', `${CORE}/providers/retry.ts`, 'RetryOptions', ''],
  ['Options of `fallback`', `${CORE}/providers/fallback.ts`, 'FallbackOptions', ''],
  ['Options of `runAgent`', `${APP}/run-agent.ts`, 'RunAgentOptions', 'And `config`, `agents`, `workflows`, `skills`, `mcpServers`, `embedder` and `adapters`, as `createServer` has them.'],
  ['What `runAgent` answers', `${APP}/run-agent.ts`, 'TestRun', 'And `status`, `finishReason`, `result`, `error` and `usage`, as `GET /runs/:runId` shows them.'],
]

export const authoringPage = (): string =>
  page(
    'Authoring',
    'Every member of a registration, of the context that its code gets, and of the options of each call. A member with `?` may be left out. ' +
      'Triggers are in the [guide](../guides/triggers.md), fields of the configuration on [their page](config.md).',
    ...SHOWN.flatMap(([heading, path, name, about]) => [
      `## ${heading}`,
      ...(about === '' ? [] : [about]),
      table(
        ['Member', 'Says'],
        interfaceMembers(path, name).map(({ signature, says }) => [code(signature), says]),
      ),
    ]),
  ).replace('the tables of @perdure/protocol', 'the authoring types and their docstrings')
