import {
  ERRORS,
  type ErrorCode,
  type ErrorSpec,
  errorsOf,
  OPERATIONS,
  PROVIDER_FAILURES,
  PROVIDER_STATUS_RULES,
  type ProviderStatusRule,
  START_ERRORS,
  TOOL_FAILURES,
} from '@perdure/protocol'
import { code, page, table } from '../markdown.ts'

export const errorsPage = (): string =>
  page(
    'Errors',
    'The errors of requests, runs, server starts, tools and model providers. A refused request is answered with ' +
      '`{ error, message, hint?, requestId }` and the status below. `error` is permanent; `message` and `hint` are texts that may change. ' +
      '*Retry*: the same request may succeed later; `Retry-After` says when. *Property*: the property that holds the identifier when the error is ' +
      'stored as data, such as the `error` of a failed run. An error without an entry in the last column is answered by no operation: it is stored ' +
      'with a run, or occurs before an operation is selected.',
    table(['Error', 'Status', 'Meaning', 'Retry', 'Property', 'Answered by'], Object.entries(ERRORS).map(toErrorRow)),
    '## Refused starts',
    'Reasons why `perdure server` does not start. They are written to stderr with exit code 2, never sent over HTTP.',
    table(['Kind', 'Meaning'], toPairs(START_ERRORS)),
    '## Tool failures',
    '`ctx.tool` returns these instead of throwing. They are data in a run, never an HTTP error.',
    table(['Kind', 'Meaning'], toPairs(TOOL_FAILURES)),
    '## Provider failures',
    'The kinds of `ProviderError`, which agents throw when a model provider fails.',
    table(['Kind', 'Meaning'], toPairs(PROVIDER_FAILURES)),
    'How the HTTP status of a provider is classified. The first matching row applies.',
    table(['Status', 'Kind', 'Retry', 'Retry-After'], PROVIDER_STATUS_RULES.map(toRuleRow)),
  )

const toErrorRow = ([error, { status, family, retryable, summary, openai }]: [string, ErrorSpec]) => [
  code(error),
  String(status),
  openai === undefined ? summary : `${summary} OpenAI clients get ${code(openai)}.`,
  retryable ? 'yes' : '',
  code(family),
  describeUse(error as ErrorCode),
]

function describeUse(error: ErrorCode): string {
  const users = OPERATIONS.filter((operation) => errorsOf(operation).includes(error))
  if (users.length === OPERATIONS.length) return 'every operation'
  return users.length > 3 ? `${users.length} operations` : users.map(({ id }) => code(id)).join(', ')
}

const toPairs = (rows: Readonly<Record<string, string>>) =>
  Object.entries(rows).map(([kind, text]) => [code(kind), text])

const toRuleRow = ({ statuses, kind, kindOfLongContext, retryable, honoursRetryAfter }: ProviderStatusRule) => [
  statuses.map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`)).join(', '),
  kindOfLongContext === undefined
    ? code(kind)
    : `${code(kind)}, or ${code(kindOfLongContext)} when the body reports a context that is too long`,
  retryable ? 'yes' : 'no',
  honoursRetryAfter ? 'honoured' : '',
]
