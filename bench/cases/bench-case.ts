import type { Comparison } from '../harness/rounds.ts'

export interface Effort {
  readonly rounds: number
  readonly durationMs: number
  readonly warmUpMs: number
  readonly isQuick: boolean
}

export interface BenchCase {
  readonly id: string
  readonly title: string
  run(effort: Effort): Promise<readonly Comparison[]>
}
