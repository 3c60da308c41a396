export {
  caseOfRuns,
  casesFromFiles,
  casesFromRuns,
  casesFromSessions,
  type RunsClient,
  recordRunOf,
  simulatedUser,
} from './cases.ts'
export { type ComparedEval, type ComparedRate, compareResults } from './compare-results.ts'
export {
  type CaseContext,
  type CaseLoader,
  type Cases,
  defineEval,
  type EvalDefinition,
  type EvalOptions,
  isEval,
  type Thresholds,
} from './define-eval.ts'
export { type ControlCase, type JudgeOptions, judge } from './judge.ts'
export { junitReport } from './junit.ts'
export { type FileJournal, openJournal } from './open-journal.ts'
export {
  type AnswerEntry,
  formatResults,
  type Journal,
  memoryJournal,
  parseResults,
  type ResultEntry,
  type StartEntry,
  type TrialEntry,
  trialsIn,
} from './results.ts'
export { type EvalBudget, type EvalsRun, type RunEvalsOptions, runEvals } from './run-evals.ts'
export {
  approved,
  type CalledToolOptions,
  calledTool,
  costBelow,
  type MatchesSchemaOptions,
  matchesSchema,
  matchesText,
  notCalledTool,
  type OwnScorerOptions,
  order,
  type ScorerOptions,
  type SimilarTextOptions,
  scorer,
  similarText,
  type UsageLimits,
  usageBelow,
} from './scorers.ts'
export { redacted, withoutContent } from './shared-recording.ts'
export { type Comparison, compareProportions, type Interval, type Proportion, wilsonInterval } from './statistics.ts'
export { type CaseSummary, type EvalSummary, percent, type RateSummary, summarize } from './summary.ts'
export type {
  ChatState,
  Decision,
  EvalCase,
  Score,
  Scorer,
  ScorerSource,
  ScorerTools,
  SimulatedUser,
  ToolUse,
  Trial,
  TrialUsage,
  Turn,
} from './trial.ts'
export { uncomparedIn } from './uncompared.ts'
