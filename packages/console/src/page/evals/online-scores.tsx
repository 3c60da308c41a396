import { useState } from 'preact/hooks'
import { useApp } from '../app-context.ts'
import type { Agent } from '../client/resources.ts'
import { Card, Empty, Shown, Status, shortId } from '../parts/basics.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Ago } from '../parts/time.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { useReloadOnSubject } from '../parts/use-reload.ts'
import { goTo, hrefOf } from '../route.ts'
import { type Judgement, judgementOf, type ShownScore, scorerRates } from './judgement.ts'
import { rateText } from './pass-rate.ts'

const MAX_SHOWN = 100

type Scoring = NonNullable<Agent['scoring']>

/** The newest judgements of the scorers of one agent or workflow. */
export function OnlineScores({ id, scoring }: { readonly id: string; readonly scoring: Scoring }) {
  const { client } = useApp()
  const { agentId, sample, scorers } = scoring
  const loaded = useLoaded(() => client.runs.list({ agentId, include: 'input,result', limit: MAX_SHOWN }), [agentId])
  useReloadOnSubject(`agent:${agentId}/events`, ({ type }) => /^run\.(completed|failed)$/.test(type), loaded.reload)
  return (
    <Card title={id} aside={<span class="quiet">{sampleText(sample)}</span>}>
      <Shown loaded={loaded}>
        {({ items }) => <Judgements id={id} judgements={items.map(judgementOf)} scorers={scorers} />}
      </Shown>
    </Card>
  )
}

const sampleText = (sample: number): string =>
  sample === 1 ? 'Every run is judged' : `${Number((100 * sample).toFixed(2))} % of the runs are judged`

interface JudgementsProps {
  readonly id: string
  readonly judgements: readonly Judgement[]
  readonly scorers: readonly string[]
}

function Judgements({ id, judgements, scorers }: JudgementsProps) {
  const [chosen, setChosen] = useState<readonly string[]>([])
  if (judgements.length === 0) return <Empty>No run of {id} has been judged yet.</Empty>
  const toggle = (runId: string) =>
    setChosen((before) =>
      before.includes(runId) ? before.filter((one) => one !== runId) : [...before, runId].slice(-2),
    )
  const [one, other] = chosen
  return (
    <>
      <DataTable
        rows={scorerRates(judgements, scorers)}
        keyOf={({ scorer }) => scorer}
        caption={`Scorers of ${id}, over the last ${judgements.length} judgements`}
        empty="No scorer is configured."
        columns={[
          { head: 'Scorer', cell: ({ scorer }) => scorer },
          {
            head: 'Passed',
            cell: ({ passed, count, errors }) =>
              `${passed}/${count}${errors === 0 ? '' : ` · ${errors} ${errors === 1 ? 'error' : 'errors'}`}`,
            isNumber: true,
          },
          { head: 'Rate (95 % interval)', cell: rateText, isNumber: true },
        ]}
      />
      <DataTable
        rows={judgements}
        keyOf={(judgement) => judgement.id}
        caption={`Judged runs of ${id}, newest first`}
        empty=""
        columns={[
          {
            head: 'Run',
            cell: (judgement) => (
              <ChosenRun judgement={judgement} isChosen={chosen.includes(judgement.runId ?? '')} onToggle={toggle} />
            ),
          },
          { head: 'Scores', cell: (judgement) => <Scores judgement={judgement} /> },
          { head: 'Judged', cell: ({ createdAt }) => <Ago at={createdAt} />, isNumber: true },
        ]}
      />
      <p class="actions">
        <button
          type="button"
          disabled={one === undefined || other === undefined}
          onClick={() => one !== undefined && goTo(hrefOf(['runs', one], { tab: 'compare', with: other }))}
        >
          Compare two runs
        </button>
      </p>
    </>
  )
}

interface ChosenRunProps {
  readonly judgement: Judgement
  readonly isChosen: boolean
  readonly onToggle: (runId: string) => void
}

/** The judged run, with a box that selects it for the comparison. */
function ChosenRun({ judgement: { runId }, isChosen, onToggle }: ChosenRunProps) {
  if (runId === undefined) return <span class="quiet">unknown</span>
  return (
    <>
      <input
        type="checkbox"
        aria-label={`Compare ${shortId(runId)}`}
        checked={isChosen}
        onChange={() => onToggle(runId)}
      />{' '}
      <a class="id" href={hrefOf(['runs', runId])}>
        {shortId(runId)}
      </a>
    </>
  )
}

function Scores({ judgement: { id, status, scores } }: { readonly judgement: Judgement }) {
  if (status !== 'completed')
    return (
      <a href={hrefOf(['runs', id])}>
        Judgement <Status value={status} />
      </a>
    )
  if (scores.length === 0) return <span class="quiet">the run no longer exists</span>
  return (
    <ul class="scores">
      {scores.map((score) => (
        <li key={score.scorer}>
          <Score score={score} />
        </li>
      ))}
    </ul>
  )
}

const Score = ({ score: { scorer, pass, reason, isError } }: { readonly score: ShownScore }) => (
  <>
    <span class={`status is-${pass ? 'completed' : 'failed'}`}>
      <span class="mark" aria-hidden="true">
        {isError ? '!' : pass ? '✓' : '✕'}
      </span>
      {scorer} {isError ? 'could not judge' : pass ? 'passed' : 'failed'}
    </span>
    {reason === undefined ? null : <span class="quiet"> {reason}</span>}
  </>
)
