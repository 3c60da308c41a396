import { Empty } from '../parts/basics.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { withVisibleOrder } from '../parts/visible-order.ts'
import { type Difference, differencesOf, isChanged, shownTexts } from './differences.ts'

export interface DiffTableProps {
  readonly before: unknown
  readonly after: unknown
  readonly caption: string
  readonly heads: readonly [before: string, after: string]
}

/** Two JSON values side by side; members that differ are marked with a word and a colour. */
export function DiffTable({ before, after, caption, heads }: DiffTableProps) {
  const { rows, isCut } = differencesOf(before, after)
  if (rows.length === 0) return <Empty>Both are empty.</Empty>
  return (
    <Scroll label={caption}>
      <table class="diff">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">{heads[0]}</th>
            <th scope="col">{heads[1]}</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.path} row={row} />
          ))}
        </tbody>
      </table>
      {isCut ? <p class="note warn">Only the first {rows.length.toLocaleString()} members are compared.</p> : null}
    </Scroll>
  )
}

function Row({ row }: { readonly row: Difference }) {
  const [before = '–', after = '–'] = shownTexts(row)
  return (
    <tr class={isChanged(row) ? 'is-changed' : undefined}>
      <th scope="row">{row.path === '' ? 'value' : row.path}</th>
      <td class="long">{withVisibleOrder(before)}</td>
      <td class="long">{withVisibleOrder(after)}</td>
      <td>{changeText(row)}</td>
    </tr>
  )
}

function changeText(row: Difference): string {
  if (!isChanged(row)) return 'same'
  if (row.before === undefined) return '+ added'
  return row.after === undefined ? '− removed' : '≠ changed'
}
