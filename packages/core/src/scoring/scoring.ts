import { createReadScoredRun, type ReadScoredRunDeps } from './read-scored-run.ts'
import { createScoreWrites, type ScoreWrites, type ScoreWritesDeps } from './score-writes.ts'
import { countScores, type ScoringAgentDeps } from './scoring-agent.ts'

export type {
  RunScorer,
  Score,
  ScoredRun,
  ScorerSource,
  ScorerTools,
  ScoringOptions,
} from '../targets/scoring-options.ts'
export { readScore } from '../targets/scoring-options.ts'
export { type ScoringAgentDeps, scoringAgentOf } from './scoring-agent.ts'
export { scoringTriggers } from './scoring-triggers.ts'

export interface ScoringDeps extends ReadScoredRunDeps, ScoreWritesDeps {
  readonly meter: Parameters<typeof countScores>[0]
}

export interface Scoring {
  readonly scoreWrites: ScoreWrites
  readonly ofAgents: ScoringAgentDeps
}

/** Wires the scoring of runs. */
export const createScoring = (deps: ScoringDeps): Scoring => ({
  scoreWrites: createScoreWrites(deps),
  ofAgents: { readRun: createReadScoredRun(deps), count: countScores(deps.meter) },
})
