import { ADMIN_SCOPE, SCOPES, type ScopeSpec } from '@perdure/protocol'
import { code, codes, page, table } from '../markdown.ts'

export const scopesPage = (): string =>
  page(
    'Scopes',
    'What a token may be allowed to do. A grant is `resource:action[:id]`, such as `agents:invoke:echo`; its action and id may be `*`. Two parts cover every id, three parts only that ' +
      'id; the id `own` covers the rows whose owner is the subject of the token. A literal third part is matched exactly.',
    `Only ${code(ADMIN_SCOPE)} covers everything. Scopes that are not in this table are refused when a token is minted.`,
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
