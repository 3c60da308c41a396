import {
  errorsOf,
  GROUP_SUMMARIES,
  OPERATION_TABLES,
  OPERATIONS,
  type Operation,
  type ScopeRule,
} from '@perdure/protocol'
import { code, codes, page, table } from '../markdown.ts'

export const operationsPage = (): string =>
  page(
    'Operations',
    'Every route of the HTTP interface: who may call it, what it answers, how it refuses. Paths stand below the base path ' +
      '(`server.basePath`, by default `/v1`). *Key*: honours `Idempotency-Key`. Parameters and bodies are in the OpenAPI ' +
      'document at `/openapi.json`, and readable on the page `/docs` of every server, which also tries them.',
    `Every operation may answer ${codes(errorsOfAll())}; the [errors](errors.md) that follow from a scope, a body or a ` +
      'key are in the OpenAPI document at `/openapi.json`. In a scope, `{name}` is the id in the path; in a scope of ' +
      'rows it is the id of the row, and rows that no grant covers answer as if they did not exist. *Sees* names what shows a ' +
      'caller the runs that it acts on; any other answers as if it did not exist.',
    ...Object.entries(OPERATION_TABLES).flatMap(([group, operations]) => [
      `## ${group}`,
      SUMMARIES[group] ?? '',
      table(
        ['Operation', 'Scope', 'Key', 'Answers', 'Errors of its own', 'State'],
        Object.values(operations).map(toRow),
      ),
    ]),
  )

const SUMMARIES: Readonly<Record<string, string>> = GROUP_SUMMARIES

const errorsOfAll = () =>
  OPERATIONS.map(errorsOf).reduce((common, errors) => common.filter((error) => errors.includes(error)))

const toRow = (operation: Operation): readonly string[] => [
  `${code(`${operation.method} ${operation.path}`)}<br>${operation.summary}`,
  describeScope(operation.scope) + describeSight(operation),
  operation.idempotent ? 'yes' : '',
  Object.entries(operation.responses)
    .map(([status, { description }]) => `${status}: ${description}`)
    .join('<br>'),
  codes(operation.errors),
  operation.refused ? '**501 by contract**' : '',
]

const describeSight = ({ sight }: Operation): string =>
  sight === undefined ? '' : `<br>Sees its own runs, and those of ${sight.map(code).join(' or ')}`

function describeScope(scope: ScopeRule): string {
  if (scope === null) return 'none'
  if (scope === 'principal') return 'any principal'
  if (typeof scope === 'string') return code(scope)
  if ('anyOf' in scope) return `rows of ${scope.anyOf.map(code).join(' or ')}`
  if ('whenConfig' in scope) return `${code(scope.scope)} when ${code(scope.whenConfig)}, else none`
  return `${code(scope.scope)}; raw: ${code(scope.rawScope)}`
}
