export interface SpanAttributeSpec {
  readonly type: 'string' | 'integer' | 'strings'
  readonly help: string
}

/**
 * Every attribute that a span can have: names, ids, counts and codes, never an input, a result, the text of an error or
 * a secret. Only the messages of models are content, and only with `tracing.recordContent`. Attributes without the prefix `perdure.` follow the OpenTelemetry semantic conventions.
 */
// biome-ignore format: one line per table row
export const SPAN_ATTRIBUTES = {
  'perdure.fire.id': { type: 'string', help: 'Id of the trigger fire.' },
  'perdure.mcp.server.id': { type: 'string', help: 'Id of the MCP server.' },
  'perdure.request.id': { type: 'string', help: 'X-Request-Id of the response.' },
  'perdure.run.attempt': { type: 'integer', help: 'Attempt of the run, from 1; increases with every recovery.' },
  'perdure.run.finish_reason': { type: 'string', help: 'Why the run ended.' },
  'perdure.run.id': { type: 'string', help: 'Id of the run.' },
  'perdure.run.status': { type: 'string', help: 'Outcome of the execution: completed, failed, aborted or suspended.' },
  'perdure.step.attempt': { type: 'integer', help: 'Attempt of the step in this process, from 1.' },
  'perdure.step.name': { type: 'string', help: 'Name of the durable call.' },
  'perdure.step.seq': { type: 'integer', help: 'Sequence number of the durable call in its run, from 1.' },
  'perdure.trigger.id': { type: 'string', help: 'Id of the trigger.' },
  'error.type': { type: 'string', help: 'Code or kind of the error.' },
  'gen_ai.agent.id': { type: 'string', help: 'Id of the agent.' },
  'gen_ai.agent.name': { type: 'string', help: 'Id of the agent, which is also its name.' },
  'gen_ai.conversation.id': { type: 'string', help: 'Id of the session of the run.' },
  'gen_ai.input.messages': { type: 'string', help: 'The messages for the model, as JSON; only with tracing.recordContent.' },
  'gen_ai.operation.name': { type: 'string', help: 'invoke_agent, invoke_workflow or execute_tool; for a call of a model, chat or another operation of it.' },
  'gen_ai.output.messages': { type: 'string', help: 'The messages of the model, as JSON; only with tracing.recordContent.' },
  'gen_ai.provider.name': { type: 'string', help: 'Provider of the model.' },
  'gen_ai.request.model': { type: 'string', help: 'Model that was asked.' },
  'gen_ai.response.finish_reasons': { type: 'strings', help: 'Why the model stopped.' },
  'gen_ai.response.model': { type: 'string', help: 'Model that answered, if the provider names it.' },
  'gen_ai.tool.call.id': { type: 'string', help: 'The toolCallId in the events of the call.' },
  'gen_ai.tool.name': { type: 'string', help: 'Name of the tool.' },
  'gen_ai.tool.type': { type: 'string', help: 'Always function.' },
  'gen_ai.usage.cache_read.input_tokens': { type: 'integer', help: 'Input tokens that the provider has read from its cache.' },
  'gen_ai.usage.input_tokens': { type: 'integer', help: 'Input tokens: of a call of a model; or of the run and its children, set when the run has ended.' },
  'gen_ai.usage.output_tokens': { type: 'integer', help: 'Output tokens: of a call of a model; or of the run and its children, set when the run has ended.' },
  'gen_ai.workflow.name': { type: 'string', help: 'Id of the workflow.' },
  'http.request.method': { type: 'string', help: 'HTTP method; _OTHER for an unknown method.' },
  'http.response.status_code': { type: 'integer', help: 'Status of the response.' },
  'http.route': { type: 'string', help: 'Route pattern with the base path; missing when no route matched.' },
  'mcp.method.name': { type: 'string', help: 'Method of the Model Context Protocol.' },
  'url.scheme': { type: 'string', help: 'http or https, as used by the client.' },
} as const satisfies Record<string, SpanAttributeSpec>

export type SpanAttribute = keyof typeof SPAN_ATTRIBUTES

interface Values {
  readonly string: string
  readonly integer: number
  readonly strings: readonly string[]
}

type ValueOf<Attribute extends SpanAttribute> = Values[(typeof SPAN_ATTRIBUTES)[Attribute]['type']]

/** Members that are `undefined` are left out. */
export type SpanAttributes<Attribute extends SpanAttribute = SpanAttribute> = {
  readonly [Name in Attribute]?: ValueOf<Name> | undefined
}

export interface SpanSpec {
  /** Name of the span; attributes in braces are filled in. */
  readonly title: string
  readonly kind: 'server' | 'client' | 'internal'
  /** Attributes with the same value on every span of this row. */
  readonly fixed: SpanAttributes
  /** Further attributes that the span can have. */
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

/** Every span that the server creates. */
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
    help: 'A request until its response, or until the response head for a stream. An HTTP status of 500 or above sets the span status to error.',
  },
  'trigger.fire': {
    title: 'fire {perdure.trigger.id}',
    kind: 'internal',
    fixed: {},
    attributes: ['perdure.trigger.id', 'perdure.fire.id', 'error.type'],
    help: 'A trigger starts a run.',
  },
  'run.agent': {
    title: 'invoke_agent {gen_ai.agent.name}',
    kind: 'internal',
    fixed: { 'gen_ai.operation.name': 'invoke_agent' },
    attributes: [...RUN, 'gen_ai.agent.id', 'gen_ai.agent.name'],
    help: 'One execution of an agent, until the run ends, is suspended or is detached.',
  },
  'run.workflow': {
    title: 'invoke_workflow {gen_ai.workflow.name}',
    kind: 'internal',
    fixed: { 'gen_ai.operation.name': 'invoke_workflow' },
    attributes: [...RUN, 'gen_ai.workflow.name'],
    help: 'One execution of a workflow, until the run ends, is suspended or is detached.',
  },
  step: {
    title: 'step {perdure.step.name}',
    kind: 'internal',
    fixed: {},
    attributes: [...STEP, 'perdure.step.name'],
    help: 'One attempt of a step, or of a call recorded like a step (memory, skills, session). Replayed calls have no span.',
  },
  tool: {
    title: 'execute_tool {gen_ai.tool.name}',
    kind: 'internal',
    fixed: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.type': 'function' },
    attributes: [...STEP, 'gen_ai.tool.name', 'gen_ai.tool.call.id'],
    help: 'A tool call made by ctx.tool, excluding the wait for its approval.',
  },
  model: {
    title: '{gen_ai.operation.name} {gen_ai.request.model}',
    kind: 'client',
    fixed: {},
    attributes: [
      ...STEP,
      'perdure.step.name',
      'gen_ai.conversation.id',
      'gen_ai.operation.name',
      'gen_ai.provider.name',
      'gen_ai.request.model',
      'gen_ai.response.model',
      'gen_ai.response.finish_reasons',
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.output_tokens',
      'gen_ai.input.messages',
      'gen_ai.output.messages',
    ],
    help: 'One attempt of a step that calls a model: ctx.stream, or a step with the option model. Recorded answers have no span.',
  },
  'mcp.call': {
    title: 'tools/call {gen_ai.tool.name}',
    kind: 'client',
    fixed: { 'gen_ai.operation.name': 'execute_tool', 'mcp.method.name': 'tools/call' },
    attributes: ['gen_ai.tool.name', 'perdure.mcp.server.id', 'error.type'],
    help: 'A tool call to an MCP server, including the time to connect.',
  },
} as const satisfies Record<string, SpanSpec>

export type SpanName = keyof typeof SPANS

/** The attributes that the code must supply when it creates the span. */
export type SpanAttributesOf<Name extends SpanName> = SpanAttributes<(typeof SPANS)[Name]['attributes'][number]>

/** Names of providers in the conventions, by the names that SDKs of models use. */
export const GEN_AI_PROVIDERS = {
  'amazon-bedrock': 'aws.bedrock',
  anthropic: 'anthropic',
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  cohere: 'cohere',
  deepseek: 'deepseek',
  google: 'gcp.gemini',
  'google.vertex': 'gcp.vertex_ai',
  groq: 'groq',
  mistral: 'mistral_ai',
  openai: 'openai',
  perplexity: 'perplexity',
  vertex: 'gcp.vertex_ai',
  xai: 'x_ai',
} as const satisfies Record<string, string>

/** The name of a span, such as `invoke_agent echo`; attributes without a value are left out. */
export function spanTitle(name: SpanName, attributes: SpanAttributes): string {
  return SPANS[name].title
    .replace(/\{([^{}]+)\}/g, (_, attribute: SpanAttribute) => String(attributes[attribute] ?? ''))
    .trim()
}
