import { may, useApp } from '../app-context.ts'
import { OnlineScores } from '../evals/online-scores.tsx'
import { ResultsFiles } from '../evals/results-files.tsx'
import { Empty, Heading, Shown } from '../parts/basics.tsx'
import { useLoaded } from '../parts/use-loaded.ts'

/** More agents or workflows than these are not listed. */
const MAX_TARGETS = 200

/** What scorers say about runs of this server, and results of `perdure eval`. */
export function EvalsPage() {
  const app = useApp()
  const { client } = app
  const loaded = useLoaded(async () => {
    const lists = await Promise.all([
      may(app, 'agents:read') ? client.agents.list({ limit: MAX_TARGETS }) : undefined,
      may(app, 'workflows:read') ? client.workflows.list({ limit: MAX_TARGETS }) : undefined,
    ])
    return lists.flatMap((list) => list?.items ?? []).flatMap(({ id, scoring }) => (scoring ? [{ id, scoring }] : []))
  }, [])
  return (
    <div class="evals">
      <Heading title="Evals" />
      <Shown loaded={loaded}>
        {(scored) =>
          scored.length === 0 ? (
            <Empty>No agent or workflow has scorers. Add the option scorers to a registration to judge its runs.</Empty>
          ) : (
            scored.map(({ id, scoring }) => <OnlineScores key={scoring.agentId} id={id} scoring={scoring} />)
          )
        }
      </Shown>
      <ResultsFiles />
    </div>
  )
}
