import { useState } from 'preact/hooks'
import { DiffTable } from '../diff/diff-table.tsx'
import { Card, Empty } from '../parts/basics.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { type ComparedCase, changeOf, compareCases, readTrials, type StoredTrial, shownTrial } from './eval-results.ts'
import { passRateOf, rateText } from './pass-rate.ts'

const HEADS = ['Before', 'After'] as const
const FILE_LABELS = ['Results before (optional)', 'Results'] as const

type Read = { readonly trials: readonly StoredTrial[] } | { readonly problem: string } | undefined

/** Results files of `perdure eval`, side by side. They are read in the browser and sent nowhere. */
export function ResultsFiles() {
  const [files, setFiles] = useState<readonly [Read, Read]>([undefined, undefined])
  const open = async (at: 0 | 1, file: File | undefined) => {
    const read = await readFile(file)
    setFiles(([before, after]) => (at === 0 ? [read, after] : [before, read]))
  }
  const problems = files.flatMap((file) => (file !== undefined && 'problem' in file ? [file.problem] : []))
  const [before, after] = files.map((file) => (file !== undefined && 'trials' in file ? file.trials : []))
  return (
    <Card title="Results of perdure eval">
      <p class="quiet">Open eval-results.ndjson. This page reads the files in your browser and sends them nowhere.</p>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        {([1, 0] as const).map((at) => (
          <label key={at}>
            {FILE_LABELS[at]}
            <input
              type="file"
              accept=".ndjson"
              onChange={({ currentTarget }) => void open(at, currentTarget.files?.[0])}
            />
          </label>
        ))}
      </form>
      {problems.map((problem) => (
        <p key={problem} class="note bad" role="alert">
          {problem}
        </p>
      ))}
      {files[0] !== undefined && files[1] === undefined ? (
        <p class="note">Open the new results, too. They are compared with these.</p>
      ) : null}
      {after === undefined || after.length === 0 ? null : <Cases before={before ?? []} after={after} />}
    </Card>
  )
}

async function readFile(file: File | undefined): Promise<Read> {
  if (file === undefined) return undefined
  try {
    return { trials: readTrials(await file.text()) }
  } catch (error) {
    return { problem: `${file.name}: ${error instanceof Error ? error.message : String(error)}` }
  }
}

interface CasesProps {
  readonly before: readonly StoredTrial[]
  readonly after: readonly StoredTrial[]
}

function Cases({ before, after }: CasesProps) {
  const [openKey, setOpenKey] = useState<string>()
  const cases = compareCases(before, after)
  const open = cases.find(({ key }) => key === openKey)
  return (
    <>
      <p>
        {before.length === 0 ? '' : `Before: ${allText(before)}. `}
        {before.length === 0 ? '' : 'After: '}
        {allText(after)}.
      </p>
      <DataTable
        rows={cases}
        keyOf={({ key }) => key}
        caption="Cases"
        empty="The file has no trials."
        columns={[
          {
            head: 'Case',
            cell: ({ key, eval: name, case: id }) => (
              <button type="button" class="link" aria-expanded={key === openKey} onClick={() => setOpenKey(key)}>
                {name} › {id}
              </button>
            ),
          },
          ...(before.length === 0 ? [FRACTION_COLUMN] : COMPARED_COLUMNS),
        ]}
      />
      {open === undefined ? null : (
        <Card title={`${open.eval} › ${open.case}`}>
          <Trials compared={open} />
        </Card>
      )}
    </>
  )
}

/** The first trial that failed, or else the first one, of both files. */
function Trials({ compared: { before, after } }: { readonly compared: ComparedCase }) {
  const [old, now] = [before, after].map((trials) => trials.find(({ pass }) => !pass) ?? trials[0])
  if (old === undefined && now === undefined) return <Empty>No trial is stored.</Empty>
  return <DiffTable before={shownTrial(old)} after={shownTrial(now)} caption="Trials of both files" heads={HEADS} />
}

const FRACTION_COLUMN: Column<ComparedCase> = { head: 'Passed', cell: (one) => fraction(one.after), isNumber: true }

const COMPARED_COLUMNS: readonly Column<ComparedCase>[] = [
  { head: HEADS[0], cell: (one) => fraction(one.before), isNumber: true },
  { head: HEADS[1], cell: (one) => fraction(one.after), isNumber: true },
  { head: 'Change', cell: changeText, isNumber: true },
]

const allText = (trials: readonly StoredTrial[]): string => {
  const rate = passRateOf(trials.map(({ pass }) => pass))
  return `${rate.passed} of ${rate.count} trials passed, ${rateText(rate)}`
}

const fraction = (trials: readonly StoredTrial[]): string =>
  trials.length === 0 ? '–' : `${trials.filter(({ pass }) => pass).length}/${trials.length}`

function changeText(one: ComparedCase): string {
  if (one.before.length === 0) return 'new'
  if (one.after.length === 0) return 'removed'
  const change = changeOf(one)
  return change === 0 ? 'same' : change < 0 ? '↓ worse' : '↑ better'
}
