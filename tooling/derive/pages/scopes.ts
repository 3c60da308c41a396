import { ADMIN_SCOPE, SCOPES, type ScopeSpec } from '@perdure/protocol'
import { code, codes, page, table } from '../markdown.ts'

export const scopesPage = (): string =>
  page(
    'Scopes',
    'The permissions of tokens. A grant is `resource:action[:id]`, such as `agents:invoke:echo`; its action and id can be `*`. A grant with two parts covers every id, a grant with three parts only that ' +
      'id. The id `own` covers the rows owned by the subject of the token. A literal third part is matched exactly.',
    `Only ${code(ADMIN_SCOPE)} covers everything. A token with a scope that is not in this table cannot be created.`,
    table(
      ['Scope', 'Third part', 'Allows'],
      Object.entries<ScopeSpec>(SCOPES).map(([name, { third, owned, summary }]) => [
        code(name),
        describeThird(third, owned),
        summary,
      ]),
    ),
  )

function describeThird(third: ScopeSpec['third'], owned: ScopeSpec['owned']): string {
  if (third === 'id') return owned ? 'an id, `own`, or none' : 'an id, or none'
  return third === 'none' ? 'none' : codes(third)
}
