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
    'Every identifier with which a request, a run, a start, a tool or a model provider can fail. A refused request answers ' +
      '`{ error, message, hint?, requestId }` with the status below; `error` is permanent, `message` and `hint` are prose and may change. ' +
      '*Retry*: the same request may succeed later; `Retry-After` says when. *Property*: where the identifier stands when the error is ' +
      'data, such as `error` of a run that failed. Without an entry in the last column no operation answers it: it is data of a run, or ' +
      'comes before any operation.',
    table(['Error', 'Status', 'Property', 'Retry', 'Meaning', 'Answered by'], Object.entries(ERRORS).map(toErrorRow)),
    '## Refused starts',
    'Why `perdure server` does not start: on stderr with exit code 2, never over HTTP.',
    table(['Kind', 'Meaning'], toPairs(START_ERRORS)),
    '## Tool failures',
    'What `ctx.tool` answers instead of throwing: data in a run, never an HTTP refusal.',
    table(['Kind', 'Meaning'], toPairs(TOOL_FAILURES)),
    '## Provider failures',
    'The kinds of a `ProviderError`, which agents throw when a model provider fails them.',
    table(['Kind', 'Meaning'], toPairs(PROVIDER_FAILURES)),
    'What the HTTP status of a provider means; the first row that matches speaks.',
    table(['Status', 'Kind', 'Retry', 'Retry-After'], PROVIDER_STATUS_RULES.map(toRuleRow)),
  )

const toErrorRow = ([error, { status, family, retryable, summary }]: [string, ErrorSpec]) => [
  code(error),
  String(status),
  code(family),
  retryable ? 'yes' : '',
  summary,
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
  kindOfLongContext === undefined ? code(kind) : `${code(kind)}, or ${code(kindOfLongContext)} when the body says so`,
  retryable ? 'yes' : 'no',
  honoursRetryAfter ? 'honoured' : '',
]
