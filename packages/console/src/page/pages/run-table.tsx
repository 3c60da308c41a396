import type { ComponentChildren } from 'preact'
import { type RunSummary, targetOf } from '../api/resources.ts'
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
              <th scope="col">
                <span class="hidden">Select</span>
              </th>
            )}
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            <th scope="col">Target</th>
            <th scope="col" class="number">
              Duration
            </th>
            <th scope="col" class="number wide-only">
              Tokens
            </th>
            <th scope="col" class="number">
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
                {run.error === undefined ? null : <div class="why">{run.error.message}</div>}
              </th>
              <td>
                <Status value={run.status} />
              </td>
              <td>
                {targetOf(run).id}
                {run.triggerId === undefined ? null : <span class="quiet"> by {run.triggerId}</span>}
              </td>
              <td class="number">
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

export function tokensText({ usage }: Pick<RunSummary, 'usage'>): string {
  const tokens = usage.inputTokens + usage.outputTokens
  return tokens === 0 ? '–' : tokens.toLocaleString()
}
