import { ALL_TABLES, errorsOf, GROUP_SUMMARIES, OPERATIONS, type Operation, type ScopeRule } from '@perdure/protocol'
import { code, codes, page, table } from '../markdown.ts'

export const operationsPage = (): string =>
  page(
    'Operations',
    'The routes of the HTTP API with their scopes, answers and errors. Paths are relative to the base path ' +
      '(`server.basePath`, default `/v1`). *Key*: the operation honours `Idempotency-Key`. Parameters and bodies are described in the OpenAPI ' +
      'document at `/openapi.json`, and on the page `/docs` of every server, where you can also try the operations.',
    `Every operation can answer ${codes(errorsOfAll())}. The OpenAPI document also lists the [errors](errors.md) that follow from a scope, ` +
      'a body or a key. In a scope, `{name}` is the id in the path. A scope shown as *rows of* covers single rows: ' +
      '`{name}` is then the id of the row, and rows that no grant covers are answered as if they did not exist. ' +
      '*Some requests also need* lists scopes that depend on the body and on what the run has recorded. ' +
      '*Sees* lists the runs that a caller can act on; other runs are answered as if they did not exist.',
    ...Object.entries(ALL_TABLES).flatMap(([group, operations]) => [
      `## ${group}`,
      GROUP_SUMMARIES[group] ?? '',
      table(['Operation', 'Scope', 'Key', 'Answers', 'Specific errors', 'State'], Object.values(operations).map(toRow)),
    ]),
  )

const errorsOfAll = () =>
  OPERATIONS.map(errorsOf).reduce((common, errors) => common.filter((error) => errors.includes(error)))

const toRow = (operation: Operation): readonly string[] => [
  `${code(`${operation.method} ${operation.path}`)}<br>${operation.summary}`,
  describeScope(operation.scope) + describeFurtherScopes(operation) + describeSight(operation),
  operation.idempotent ? 'yes' : '',
  Object.entries(operation.responses)
    .map(([status, { description }]) => `${status}: ${description}`)
    .join('<br>'),
  codes(operation.errors),
  operation.refused ? '**501 by contract**' : '',
]

const describeFurtherScopes = ({ mayNeed = [] }: Operation): string =>
  mayNeed.length === 0 ? '' : `<br>Some requests also need one or more of ${mayNeed.map(code).join(', ')}`

const describeSight = ({ sight }: Operation): string =>
  sight === undefined ? '' : `<br>Sees its own runs and those of ${sight.map(code).join(' or ')}`

function describeScope(scope: ScopeRule): string {
  if (scope === null) return 'none'
  if (scope === 'principal') return 'any principal'
  if (typeof scope === 'string') return code(scope)
  if ('anyOf' in scope) return `rows of ${scope.anyOf.map(code).join(' or ')}`
  if ('whenConfig' in scope) return `${code(scope.scope)} if ${code(scope.whenConfig)}, otherwise none`
  return `${code(scope.scope)}; raw: ${code(scope.rawScope)}`
}
