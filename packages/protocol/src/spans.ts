export interface SpanAttributeSpec {
  readonly type: 'string' | 'integer'
  readonly help: string
}

/**
 * Every attribute that a span may have. Names, ids, counts and codes: never an input, a result, the text of an error or a
 * secret. Those outside `perdure` are names of the semantic conventions of OpenTelemetry.
 */
// biome-ignore format: a table is read by its rows
export const SPAN_ATTRIBUTES = {
  'perdure.fire.id': { type: 'string', help: 'The fire of the trigger.' },
  'perdure.mcp.server.id': { type: 'string', help: 'Under which the MCP server is bound.' },
  'perdure.request.id': { type: 'string', help: 'X-Request-Id of the answer.' },
  'perdure.run.attempt': { type: 'integer', help: 'Attempt of the run, from 1; grows when it is recovered.' },
  'perdure.run.finish_reason': { type: 'string', help: 'Why the run has ended.' },
  'perdure.run.id': { type: 'string', help: 'The run.' },
  'perdure.run.status': { type: 'string', help: 'What the execution came to: completed, failed, aborted, suspended.' },
  'perdure.step.attempt': { type: 'integer', help: 'Try of the step in this process, from 1.' },
  'perdure.step.name': { type: 'string', help: 'Name of the durable call.' },
  'perdure.step.seq': { type: 'integer', help: 'Its place in the order of calls.' },
  'perdure.trigger.id': { type: 'string', help: 'The trigger.' },
  'error.type': { type: 'string', help: 'Code or kind of what went wrong.' },
  'gen_ai.agent.id': { type: 'string', help: 'Id of the agent.' },
  'gen_ai.agent.name': { type: 'string', help: 'Id of the agent, which is its name too.' },
  'gen_ai.conversation.id': { type: 'string', help: 'The session of the run.' },
  'gen_ai.operation.name': { type: 'string', help: 'invoke_agent, invoke_workflow or execute_tool.' },
  'gen_ai.tool.call.id': { type: 'string', help: 'toolCallId of the events of the call.' },
  'gen_ai.tool.name': { type: 'string', help: 'Name of the tool.' },
  'gen_ai.tool.type': { type: 'string', help: 'Always function.' },
  'gen_ai.usage.input_tokens': { type: 'integer', help: 'Of the whole run and its children, once it has ended.' },
  'gen_ai.usage.output_tokens': { type: 'integer', help: 'Of the whole run and its children, once it has ended.' },
  'gen_ai.workflow.name': { type: 'string', help: 'Id of the workflow.' },
  'http.request.method': { type: 'string', help: 'Method; _OTHER when it is none of HTTP.' },
  'http.response.status_code': { type: 'integer', help: 'Status of the answer.' },
  'http.route': { type: 'string', help: 'Pattern of the route, with the base path; missing when none matched.' },
  'mcp.method.name': { type: 'string', help: 'Method of the Model Context Protocol.' },
  'url.scheme': { type: 'string', help: 'http or https, as the client spoke it.' },
} as const satisfies Record<string, SpanAttributeSpec>

export type SpanAttribute = keyof typeof SPAN_ATTRIBUTES

type ValueOf<Attribute extends SpanAttribute> = (typeof SPAN_ATTRIBUTES)[Attribute]['type'] extends 'integer'
  ? number
  : string

/** What is `undefined` is left out. */
export type SpanAttributes<Attribute extends SpanAttribute = SpanAttribute> = {
  readonly [Name in Attribute]?: ValueOf<Name> | undefined
}

export interface SpanSpec {
  /** Attributes stand in braces. */
  readonly title: string
  readonly kind: 'server' | 'client' | 'internal'
  /** What every span of the row has. */
  readonly fixed: SpanAttributes
  /** What it may have besides. */
  readonly attributes: readonly SpanAttribute[]
  readonly help: string
}

const RUN = [
  'perdure.run.id',
  'perdure.run.attempt',
  'perdure.run.status',
  'perdure.run.finish_reason',
  'gen_ai.conversation.id',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'error.type',
] as const

const STEP = ['perdure.run.id', 'perdure.step.seq', 'perdure.step.attempt', 'error.type'] as const

/** Every span that the server makes. */
export const SPANS = {
  request: {
    title: '{http.request.method} {http.route}',
    kind: 'server',
    fixed: {},
    attributes: [
      'http.request.method',
      'http.route',
      'http.response.status_code',
      'url.scheme',
      'perdure.request.id',
      'error.type',
    ],
    help: 'A request up to its answer, of a stream to its head. Its status is an error from 500 on.',
  },
  'trigger.fire': {
    title: 'fire {perdure.trigger.id}',
    kind: 'internal',
    fixed: {},
    attributes: ['perdure.trigger.id', 'perdure.fire.id', 'error.type'],
    help: 'The start of a run by a trigger.',
  },
  'run.agent': {
    title: 'invoke_agent {gen_ai.agent.name}',
    kind: 'internal',
    fixed: { 'gen_ai.operation.name': 'invoke_agent' },
    attributes: [...RUN, 'gen_ai.agent.id', 'gen_ai.agent.name'],
    help: 'One execution of the code of an agent: until it ends, is suspended or is taken away.',
  },
  'run.workflow': {
    title: 'invoke_workflow {gen_ai.workflow.name}',
    kind: 'internal',
    fixed: { 'gen_ai.operation.name': 'invoke_workflow' },
    attributes: [...RUN, 'gen_ai.workflow.name'],
    help: 'The same of a workflow.',
  },
  step: {
    title: 'step {perdure.step.name}',
    kind: 'internal',
    fixed: {},
    attributes: [...STEP, 'perdure.step.name'],
    help: 'One try of a step, and of what is recorded like one: memory, skills, the session. What is replayed has none.',
  },
  tool: {
    title: 'execute_tool {gen_ai.tool.name}',
    kind: 'internal',
    fixed: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.type': 'function' },
    attributes: [...STEP, 'gen_ai.tool.name', 'gen_ai.tool.call.id'],
    help: 'A call of a tool by ctx.tool, without the wait for its approval.',
  },
  'mcp.call': {
    title: 'tools/call {gen_ai.tool.name}',
    kind: 'client',
    fixed: { 'gen_ai.operation.name': 'execute_tool', 'mcp.method.name': 'tools/call' },
    attributes: ['gen_ai.tool.name', 'perdure.mcp.server.id', 'error.type'],
    help: 'A call of a tool of an MCP server, connecting included.',
  },
} as const satisfies Record<string, SpanSpec>

export type SpanName = keyof typeof SPANS

/** The attributes that whoever makes the span gives it. */
export type SpanAttributesOf<Name extends SpanName> = SpanAttributes<(typeof SPANS)[Name]['attributes'][number]>

/** The title of a span, such as `invoke_agent echo`; what has no value is left out. */
export function spanTitle(name: SpanName, attributes: SpanAttributes): string {
  return SPANS[name].title
    .replace(/\{([^{}]+)\}/g, (_, attribute: SpanAttribute) => String(attributes[attribute] ?? ''))
    .trim()
}
