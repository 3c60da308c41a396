import type { ComponentChildren } from 'preact'
import { type RunSummary, targetOf } from '../client/resources.ts'
import { previewOf } from '../conversation/input-content.ts'
import { Status, shortId } from '../parts/basics.tsx'
import { Ago, Took } from '../parts/time.tsx'
import { hrefOf } from '../route.ts'

export interface RunTableProps {
  readonly runs: readonly RunSummary[]
  readonly caption: string
  /** Draws a first cell, such as a checkbox. */
  readonly first?: (run: RunSummary) => ComponentChildren
}

/** Runs, one per row. */
export function RunTable({ runs, caption, first }: RunTableProps) {
  return (
    <div class="scroll">
      <table class="runs">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {first === undefined ? null : (
              <th scope="col" class="check-head">
                <span class="hidden">Select</span>
              </th>
            )}
            <th scope="col">Run</th>
            <th scope="col" class="status-head">
              Status
            </th>
            <th scope="col" class="wide-only">
              Target
            </th>
            <th scope="col" class="number wide-only">
              Duration
            </th>
            <th scope="col" class="number wide-only">
              Tokens
            </th>
            <th scope="col" class="number created-head">
              Created
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              {first === undefined ? null : <td class="check">{first(run)}</td>}
              <th scope="row">
                <a class="id" href={hrefOf(['runs', run.id])} title={run.id}>
                  {shortId(run.id)}
                </a>
                <div class="narrow-only">{targetOf(run).id}</div>
                <Preview name="in" value={run.input} />
                <Preview name="out" value={run.result} />
                {run.error === undefined ? null : <div class="why">{run.error.message}</div>}
              </th>
              <td>
                <Status value={run.status} />
              </td>
              <td class="wide-only">
                {targetOf(run).id}
                {run.triggerId === undefined ? null : <span class="quiet"> by {run.triggerId}</span>}
              </td>
              <td class="number wide-only">
                <Took from={run.startedAt} to={run.completedAt} />
              </td>
              <td class="number wide-only">{tokensText(run)}</td>
              <td class="number">
                <Ago at={run.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The beginning of an input or result, if the list has it. */
function Preview({ name, value }: { readonly name: string; readonly value: unknown }) {
  const text = previewOf(value)
  return text === '' ? null : (
    <div class="preview">
      <span class="kind">{name}</span> {text}
    </div>
  )
}

export function tokensText({ usage }: Pick<RunSummary, 'usage'>): string {
  const tokens = usage.inputTokens + usage.outputTokens
  return tokens === 0 ? '–' : tokens.toLocaleString()
}
