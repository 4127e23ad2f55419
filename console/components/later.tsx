/** The room of what has code of its own: until it is loaded, and if that fails. The rest of the page stays as it is. */
import { type ReactNode, Suspense } from 'react';
import { Boundary } from './boundary.tsx';
import { FloatingFault, PageFault, PartFault } from './fault.tsx';

const FAULTS = { page: PageFault, part: PartFault, floating: FloatingFault };

interface LaterProps {
  /** `floating`: what is inside floats above the page, and so does its failure. */
  readonly as: keyof typeof FAULTS;
  /** What is inside, where it may become something else. */
  readonly about?: string;
  readonly fallback?: ReactNode;
  readonly children: ReactNode;
}

export function Later({ as, about = '', fallback, children }: LaterProps) {
  const Fault = FAULTS[as];
  return (
    <Boundary about={about} show={(fault) => <Fault {...fault} />}>
      <Suspense fallback={fallback}>{children}</Suspense>
    </Boundary>
  );
}
