import type { NewEvent, RunRecord, Write } from '@perdure/ports'

/** What a new run takes from another run. */
export interface RunSeed {
  /** Members of the record that do not follow from the request; with the status `suspended`, the run does not start. */
  readonly members: Partial<RunRecord>
  /** Whether the input is a new message to the session. */
  readonly isMessage: boolean
  writes(run: RunRecord): readonly Write[]
  /** The first events of the run. */
  events(run: RunRecord): readonly NewEvent[]
  /** Called once the run is stored. */
  onStored(): void
}
