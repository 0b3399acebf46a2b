__version__: str

from . import auditing as auditing
from . import datasets as datasets
from . import erasers as erasers
from . import errors as errors
from . import io as io
from . import metrics as metrics
from . import models as models
from . import moments as moments
from . import tables as tables
from . import torch as torch
from . import tradeoff as tradeoff
from .auditing import Audit as Audit
from .auditing import Gate as Gate
from .auditing import assert_gate as assert_gate
from .auditing import audit as audit
from .auditing import gate as gate
from .errors import FairPCAError as FairPCAError
from .errors import UsageError as UsageError
from .estimators import FairKernelPCA as FairKernelPCA
from .estimators import FairPCA as FairPCA
from .estimators import FairPLS as FairPLS
from .models import FairTableTransformer as FairTableTransformer
from .models import fit_table as fit_table
from .models import load as load
from .models import save as save
